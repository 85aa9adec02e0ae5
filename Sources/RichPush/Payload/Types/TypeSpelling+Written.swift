/// What stands in a dialect's type field for a file of a type.
extension TypeSpelling {
    /// The text to write, in the form and the letters of what was found.
    ///
    /// - Parameter found: what stands there; nil when nothing does.
    /// - Returns: nil when nothing is to be written: the dialect has no type, or it need not be given.
    public func written(_ type: AttachmentType, like found: String?) -> String? {
        switch self {
        case .none: nil
        case .any: found.flatMap { Self.inAnyForm(type, like: $0) }
        case .fileExtension(let standard): Self.asExtension(type, like: found, standard: standard)
        case .words(let words): Self.asWord(type, of: words, like: found)
        case .wordsOrUTI(let words):
            found.map { found in
                TypeDeclaration(found, words: words).form == .uti
                    ? type.uti : Self.asWord(type, of: words, like: found) ?? type.uti
            }
        }
    }

    private static func inAnyForm(_ type: AttachmentType, like found: String) -> String? {
        let declared = TypeDeclaration(found)
        switch declared.form {
        case .uti: return type.uti
        case .mimeType:
            let isSame = found.prefix { $0 != ";" }.lowercased() == type.mimeType
            return isSame ? found : LetterCase(of: found).applied(to: type.mimeType)
        case .fileExtension, .word:
            // A word that names no media may be about something else.
            guard declared.kind != nil else { return nil }
            if declared.form == .fileExtension { return fileExtension(type, like: found) }
            if declared.kind == type.kind { return found }
            let word =
                switch type.kind {
                case .image: "image"
                case .audio: "audio"
                case .movie: "video"
                }
            return LetterCase(of: found).applied(to: word)
        }
    }

    private static func asExtension(_ type: AttachmentType, like found: String?, standard: String?) -> String? {
        guard let found else {
            let isStandard = standard.map { TypeDeclaration($0).attachmentType == type } ?? false
            return isStandard ? nil : type.fileExtension
        }
        // A word or a MIME type would become the file's suffix, as it is.
        return TypeDeclaration(found).form == .fileExtension ? fileExtension(type, like: found) : type.fileExtension
    }

    /// Another extension of the same type stays, in its letters and with its dot.
    private static func fileExtension(_ type: AttachmentType, like found: String) -> String {
        let dot = found.hasPrefix(".") ? "." : ""
        let name = found.dropFirst(dot.count)
        if commonExtensions[type, default: []].contains(name.lowercased()) { return found }
        return dot + LetterCase(of: String(name)).applied(to: type.fileExtension)
    }

    private static func asWord(_ type: AttachmentType, of words: [TypeWord], like found: String?) -> String? {
        let exact = words.filter { $0.type == type }
        let fitting = exact.isEmpty ? words.filter { $0.type == nil && $0.kind == type.kind } : exact
        guard let first = fitting.first else { return nil }
        guard let found else { return first.word }
        if fitting.contains(where: { $0.word.lowercased() == found.lowercased() }) { return found }
        return LetterCase(of: found).applied(to: first.word)
    }

    /// Extensions that iOS maps to the type as it does the one we write.
    private static let commonExtensions: [AttachmentType: Set<String>] = [
        .jpeg: ["jpg", "jpeg"], .png: ["png"], .gif: ["gif"], .aiff: ["aiff", "aif"], .wave: ["wav", "wave"],
        .mp3: ["mp3"], .mpeg4Audio: ["m4a"], .mpeg: ["mpg", "mpeg"], .mpeg2Video: ["m2v"], .mpeg4: ["mp4"],
        .avi: ["avi"],
    ]
}

/// How the letters of a word are written.
private enum LetterCase {
    case lower, upper, capitalized, mixed

    init(of text: String) {
        let letters = text.filter(\.isLetter)
        if letters == letters.lowercased() {
            self = .lower
        } else if letters == letters.uppercased() {
            self = .upper
        } else {
            self = letters.dropFirst().allSatisfy(\.isLowercase) ? .capitalized : .mixed
        }
    }

    func applied(to word: String) -> String {
        switch self {
        case .lower: word.lowercased()
        case .upper: word.uppercased()
        case .capitalized: word.prefix(1).uppercased() + word.dropFirst().lowercased()
        case .mixed: word
        }
    }
}
