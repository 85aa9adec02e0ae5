import AttachPrepModel
public import RichPush

/// Updates a dialect's fields beside a URL (type, size, options) to the manifest's values, in their existing form.
struct MediaFieldChanges {
    let item: PayloadMediaItem
    let attachment: ManifestFile
    let type: AttachmentType
    let options: AttachmentOptions?

    enum Change: Sendable, Hashable {
        case keep
        /// The field does not apply to the prepared file.
        case remove
        case write(PayloadValue)
        /// Changes single values inside the field; the others keep their spelling.
        case writeParts([Part])
    }

    struct Part: Sendable, Hashable {
        let steps: [PayloadPath.Step]
        let value: PayloadValue
    }

    func change(of field: MediaLocation.Field, found: PayloadValue) -> Change {
        switch field {
        case .id, .type, .fallbackURL: .keep
        case .kind: kind(found)
        case .name: name(found)
        case .bytes: bytes(found)
        case .typeHint: found.string == type.uti ? .keep : .write(.string(type.uti))
        case .thumbnailHidden: hidden(found)
        case .clippingRect: rect(found)
        case .thumbnailTime: time(found)
        }
    }

    /// A keyword for a kind of media: `IMAGE`, `video`; some services have one for GIFs.
    private func kind(_ found: PayloadValue) -> Change {
        guard let text = found.string else { return .keep }
        let declared = DeclaredType(text)
        if declared.format == .gif ? type == .gif : declared.kind == type.kind { return .keep }
        return .write(.string(LetterCase(of: text).applied(to: type.kind.keyword)))
    }

    /// Keeps the name and replaces its extension with that of the prepared type.
    private func name(_ found: PayloadValue) -> Change {
        guard let name = found.string, !name.isEmpty else { return .keep }
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        if DeclaredType(String(name[dot...])).attachmentType == type { return .keep }
        return .write(.string("\(name[..<dot]).\(type.fileExtension)"))
    }

    private func bytes(_ found: PayloadValue) -> Change {
        if found.string != nil { return .write(.string("\(attachment.bytes)")) }
        return found.double == Double(attachment.bytes) ? .keep : .write(.number(attachment.bytes))
    }

    private func hidden(_ found: PayloadValue) -> Change {
        let wanted = options?.thumbnailHidden
        guard let wanted else { return item.options.thumbnailHidden == false ? .keep : .remove }
        if item.options.thumbnailHidden == wanted { return .keep }
        return switch found {
        case .number: .write(.number(wanted ? 1 : 0))
        case .string: .write(.string(wanted ? "true" : "false"))
        default: .write(.bool(wanted))
        }
    }

    /// A number (seconds or frame) stays a number; a CMTime dictionary stays a dictionary.
    private func time(_ found: PayloadValue) -> Change {
        guard let wanted = options?.thumbnailTime else { return .remove }
        let isStructured = found.members != nil
        switch wanted {
        case .frame(let number):
            if item.options.thumbnailTime == Double(number), !isStructured { return .keep }
            return .write(found.string == nil ? .number(number) : .string("\(number)"))
        case .movie(let time):
            if let requested = item.options.thumbnailTime, (requested - time.seconds).magnitude <= Self.tick {
                return .keep
            }
            if isStructured { return .write(wanted.payloadValue) }
            let seconds = PayloadValue.number(time.seconds)
            guard found.string != nil, case .number(let text) = seconds else { return .write(seconds) }
            return .write(.string(text))
        }
    }

    /// Times are rounded to ticks, so a difference of at most one tick, in seconds, is not a change.
    private static let tick = 1 / Double(Limits.movieTimescale)
}

/// Writes a clipping rectangle in the form that the payload uses.
extension MediaFieldChanges {
    func rect(_ found: PayloadValue) -> Change {
        guard let wanted = options?.thumbnailClippingRect else { return .remove }
        if item.options.clippingRect == wanted { return .keep }
        let sides = [wanted.x, wanted.y, wanted.width, wanted.height].map(PayloadValue.number)
        if let steps = Self.steps(of: found) {
            return .writeParts(
                zip(steps, sides).compactMap { steps, side in
                    found.value(at: PayloadPath(steps)).flatMap { Self.part(steps, was: $0, is: side) }
                })
        }
        let usesAppleKeys = item.fields[.clippingRect]?.steps.contains { step in
            if case .key(let key) = step { key.contains("UNNotificationAttachment") } else { false }
        }
        let names = Self.names[usesAppleKeys == true ? 0 : 1]
        return .write(.object(zip(names, sides).map { PayloadMember($0, $1) }))
    }

    /// The keys of Core Graphics, and the lowercase form of most services.
    private static let names = [["X", "Y", "Width", "Height"], ["x", "y", "width", "height"]]

    /// The paths of the four numbers, in an object or in JSON inside a string; nil when one is missing.
    private static func steps(of found: PayloadValue) -> [[PayloadPath.Step]]? {
        let before: [PayloadPath.Step] = found.string == nil ? [] : [.text]
        return names.map { $0.map { before + [.key($0)] } }.first { sides in
            sides.allSatisfy { found.value(at: PayloadPath($0)) != nil }
        }
    }

    /// An equal number keeps its spelling; a number in a string stays in a string.
    private static func part(_ steps: [PayloadPath.Step], was: PayloadValue, is new: PayloadValue) -> Part? {
        guard case .number(let text) = new else { return nil }
        if let old = was.string { return Double(old) == new.double ? nil : Part(steps: steps, value: .string(text)) }
        return was.double == new.double ? nil : Part(steps: steps, value: new)
    }
}

/// Writes the value of a dialect's type field.
extension TypeNotation {
    /// The text for a type, in the form and letter case of the existing text.
    ///
    /// - Parameter found: The existing text; nil when the field is missing.
    /// - Returns: Nil when nothing is to be written: there is no type field, or it is optional and missing.
    public func written(_ type: AttachmentType, like found: String?) -> String? {
        switch self {
        case .none: nil
        case .any: found.flatMap { Self.inAnyForm(type, like: $0) }
        case .fileExtension(let standard): Self.asExtension(type, like: found, standard: standard)
        case .keywords(let keywords): Self.asKeyword(type, of: keywords, like: found)
        case .keywordsOrUTI(let keywords):
            found.map { found in
                DeclaredType(found, keywords: keywords).form == .uti
                    ? type.uti : Self.asKeyword(type, of: keywords, like: found) ?? type.uti
            }
        }
    }

    private static func inAnyForm(_ type: AttachmentType, like found: String) -> String? {
        let declared = DeclaredType(found)
        switch declared.form {
        case .uti: return type.uti
        case .mimeType:
            let isSame = found.prefix { $0 != ";" }.lowercased() == type.mimeType
            return isSame ? found : LetterCase(of: found).applied(to: type.mimeType)
        case .fileExtension, .keyword:
            // A keyword that names no media may have another meaning.
            guard declared.kind != nil else { return nil }
            if declared.form == .fileExtension { return fileExtension(type, like: found) }
            if declared.kind == type.kind { return found }
            return LetterCase(of: found).applied(to: type.kind.keyword)
        }
    }

    private static func asExtension(_ type: AttachmentType, like found: String?, standard: String?) -> String? {
        guard let found else {
            let isStandard = standard.map { DeclaredType($0).attachmentType == type } ?? false
            return isStandard ? nil : type.fileExtension
        }
        // The SDK would use a keyword or MIME type verbatim as the file's extension.
        return DeclaredType(found).form == .fileExtension ? fileExtension(type, like: found) : type.fileExtension
    }

    /// Keeps another extension of the same type; otherwise writes the type's extension in the same case, with the dot.
    private static func fileExtension(_ type: AttachmentType, like found: String) -> String {
        let dot = found.hasPrefix(".") ? "." : ""
        let name = found.dropFirst(dot.count)
        if commonExtensions[type, default: []].contains(name.lowercased()) { return found }
        return dot + LetterCase(of: String(name)).applied(to: type.fileExtension)
    }

    private static func asKeyword(_ type: AttachmentType, of keywords: [TypeKeyword], like found: String?) -> String? {
        let exact = keywords.filter { $0.type == type }
        let fitting = exact.isEmpty ? keywords.filter { $0.type == nil && $0.kind == type.kind } : exact
        guard let first = fitting.first else { return nil }
        guard let found else { return first.keyword }
        if fitting.contains(where: { $0.keyword.lowercased() == found.lowercased() }) { return found }
        return LetterCase(of: found).applied(to: first.keyword)
    }

    /// All extensions that iOS maps to each type.
    private static let commonExtensions: [AttachmentType: Set<String>] = [
        .jpeg: ["jpg", "jpeg"], .png: ["png"], .gif: ["gif"], .aiff: ["aiff", "aif"], .wave: ["wav", "wave"],
        .mp3: ["mp3"], .mpeg4Audio: ["m4a"], .mpeg: ["mpg", "mpeg"], .mpeg2Video: ["m2v"], .mpeg4: ["mp4"],
        .avi: ["avi"],
    ]
}

extension MediaKind {
    /// What services call the kind.
    fileprivate var keyword: String {
        switch self {
        case .image: "image"
        case .audio: "audio"
        case .movie: "video"
        }
    }
}

/// The letter case of a keyword.
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

    func applied(to keyword: String) -> String {
        switch self {
        case .lower: keyword.lowercased()
        case .upper: keyword.uppercased()
        case .capitalized: keyword.prefix(1).uppercased() + keyword.dropFirst().lowercased()
        case .mixed: keyword
        }
    }
}
