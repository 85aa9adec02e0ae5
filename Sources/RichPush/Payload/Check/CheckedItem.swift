/// A piece of media with what its payload, its address and its service say of it.
struct CheckedItem {
    let item: PayloadMediaItem
    let naming: FileNaming
    /// What people call the service.
    let service: String
    /// As the payload has it.
    let text: String?
    /// Of the address, in lower case.
    let fileExtension: String?
    /// What iOS would take it for by its name.
    let namedFormat: MediaFormat?
    let declared: TypeDeclaration?
    let hint: TypeDeclaration?
    /// What its key says.
    let key: MediaKey?

    var path: String { SpokenText.path(item.path) }

    init(_ item: PayloadMediaItem, dialect: PayloadDialect?, in payload: PayloadValue) {
        self.item = item
        naming = dialect.map(FileNaming.init) ?? .unknown
        service = dialect.flatMap { FileNaming.ownApps.contains($0.name) ? nil : $0.service } ?? "the app"
        text = payload.standing(at: item.path)?.string
        if case .other = item.address {
            fileExtension = nil
        } else {
            fileExtension = MediaAddress.fileExtension(of: item.address.text)
        }
        let named = fileExtension.flatMap { TypeNames.extensions[$0] }
        // Home Assistant's own words are no extensions.
        namedFormat = TypeNames.onlyWords.contains(fileExtension ?? "") ? nil : named
        let words: [TypeWord] =
            switch item.place.types {
            case .words(let words), .wordsOrUTI(let words): words
            case .none, .any, .fileExtension: []
            }
        declared = item.declaredType.map { TypeDeclaration($0, words: words) }
        hint = item.fields[.typeHint].flatMap { payload.standing(at: $0)?.string }
            .flatMap { $0.isEmpty ? nil : TypeDeclaration($0) }
        if case .key(let name) = item.path.steps.last {
            key = item.place.keys.first { $0.key == name }
        } else {
            key = nil
        }
    }

    /// Why the service shows a GIF as a still; nil when it animates.
    var whyStill: String? {
        switch naming {
        case .declaredKind where declared?.format != .gif && declared?.kind == .image:
            "\(service) names pictures .jpg; write gif as its type"
        case .fixed("png"): "\(service) names every file .png, and the name picks the renderer; send a still there"
        case .fixed(nil) where key?.isAnimation == false:
            "\(service) names what stands there .jpg; use gif_url"
        case .declaredType, .declaredTypeElseURL:
            declared.flatMap(\.format).flatMap {
                $0.kind == .image && $0 != .gif ? "its type is not gif; write gif" : nil
            }
        default: nil
        }
    }
}

extension PayloadMediaItem.Address {
    /// As it is read.
    var text: String {
        switch self {
        case .url(let text), .file(let text), .other(let text): text
        }
    }
}

extension TypeSpelling {
    /// Whether the service has a list of types.
    var isListed: Bool {
        switch self {
        case .words, .wordsOrUTI: true
        case .none, .any, .fileExtension: false
        }
    }

    /// Whether the service's SDK needs a type.
    var isRequired: Bool {
        switch self {
        case .words, .fileExtension(standard: nil): true
        case .none, .any, .wordsOrUTI, .fileExtension: false
        }
    }
}

extension MediaKind {
    /// What to send in place of what iOS drops.
    var remedy: String {
        switch self {
        case .image: "JPEG, PNG or GIF"
        case .audio: "MP3, M4A, WAV or AIFF"
        case .movie: "MP4"
        }
    }
}

extension MediaFormat {
    /// iOS takes them in practice (`apple-attachments.md` 1.2).
    var isTakenUndocumented: Bool {
        switch self {
        case .heic, .aifc, .caf, .amr, .au, .ac3, .eac3, .quickTime, .m4v, .threeGPP, .threeGPP2: true
        default: false
        }
    }

    /// Whether iOS treats the two alike: MPEG program streams have several names.
    func isAttached(like other: MediaFormat) -> Bool {
        self == other || (attachmentType != nil && attachmentType == other.attachmentType)
            || (Self.mpeg.contains(self) && Self.mpeg.contains(other))
    }

    private static let mpeg: Set<MediaFormat> = [.mpegProgramStream, .mpeg1Video, .mpeg2Video]
}
