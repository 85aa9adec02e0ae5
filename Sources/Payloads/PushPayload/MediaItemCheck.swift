import AttachPrepModel
import RichPush

/// The checks of each media item of a payload.
enum MediaItemCheck {
    static let all: [@Sendable (CheckedItem) -> [PayloadWarning]] = [
        insecure, malformed, withoutExtension, contradicted, notAttachable, unknownType, hint, missingType,
        typeAsSuffix, notAnimated, fixedName, savedAsOtherType,
    ]

    @Sendable private static func insecure(_ item: CheckedItem) -> [PayloadWarning] {
        [item.item.address.text, item.item.fallbackURL].compactMap(\.self).contains {
            $0.lowercased().hasPrefix("http:")
        }
            ? [
                PayloadWarning(
                    .insecureURL,
                    "\(item.path) is an http URL, which App Transport Security blocks in the app's service extension; "
                        + "serve it over https.")
            ] : []
    }

    @Sendable private static func malformed(_ item: CheckedItem) -> [PayloadWarning] {
        guard case .url = item.item.address, let text = item.text, !MediaAddress.isWellFormed(text) else { return [] }
        return [
            PayloadWarning(
                .urlMalformed,
                "\(item.path) has spaces or other characters that are invalid in a URL, and iOS before 17 cannot parse "
                    + "it; percent-encode them (a space is %20).")
        ]
    }

    @Sendable private static func withoutExtension(_ item: CheckedItem) -> [PayloadWarning] {
        guard case .url = item.item.address, item.namedFormat == nil else { return [] }
        let hasType = item.declared?.format != nil || item.hint?.format != nil
        guard let why = item.naming.missingExtension(item.service, hasType: hasType) else { return [] }
        let what =
            item.fileExtension.map { "ends in .\(PrintableText.short($0)), which is not a media type" }
            ?? "has no extension"
        return [
            PayloadWarning(
                .extensionMissing,
                "\(item.path) \(what): \(why); use a URL whose path ends in the file's extension, such as .jpg.")
        ]
    }

    @Sendable private static func contradicted(_ item: CheckedItem) -> [PayloadWarning] {
        guard let format = item.namedFormat else { return [] }
        for (declared, what) in [(item.declared, "its type says"), (item.hint, "its type hint says")] {
            guard let declared, let kind = declared.kind else { continue }
            let isSame = declared.format.map { $0.isAttached(like: format) } ?? (kind == format.kind)
            guard !isSame else { continue }
            let name = declared.format?.mimeType ?? kind.rawValue
            return [
                PayloadWarning(
                    .typeContradicted,
                    "\(item.path) is \(format.mimeType) by its extension, but \(what) \(name): iOS uses one of them, "
                        + "not the content, and may show the file wrongly or not at all; make them agree.")
            ]
        }
        guard let key = item.key, key.kind != format.kind else { return [] }
        return [
            PayloadWarning(
                .typeContradicted,
                "\(item.path) is \(format.mimeType) by its extension, but its key is for \(key.kind.rawValue) files; "
                    + "use the key for its kind.")
        ]
    }

    @Sendable private static func notAttachable(_ item: CheckedItem) -> [PayloadWarning] {
        let formats = [item.hint?.format, item.declared?.format, item.namedFormat].compactMap(\.self)
        guard let format = formats.first(where: { $0.attachmentType == nil }) else { return [] }
        let name = "\(item.path) is \(format.mimeType)"
        return [
            PayloadWarning(
                .typeNotAttachable,
                format.isAttachableUndocumented
                    ? "\(name), which iOS accepts today but Apple does not document as attachable; send "
                        + "\(format.kind.remedy) instead."
                    : "\(name), which iOS drops (error 101): the notification appears without it; send "
                        + "\(format.kind.remedy) instead.",
                level: format.isAttachableUndocumented ? .warning : nil)
        ]
    }

    @Sendable private static func unknownType(_ item: CheckedItem) -> [PayloadWarning] {
        if let hint = item.hint, hint.form == .uti, hint.format == nil {
            return [
                PayloadWarning(
                    .typeNotAttachable,
                    "The type hint of \(item.path) is not an attachable type, so iOS drops the file (error 101); write "
                        + "one of Apple's, such as public.jpeg, or leave it out.")
            ]
        }
        guard let text = item.item.declaredType, item.declared?.kind == nil, item.item.location.types.isListed else {
            return []
        }
        return [
            PayloadWarning(
                .typeNotShown,
                "The type of \(item.path), \(PrintableText.quoted(text)), is unknown to \(item.service), so iOS may "
                    + "not get the type; write image, jpeg or another type that the service documents.")
        ]
    }

    @Sendable private static func hint(_ item: CheckedItem) -> [PayloadWarning] {
        guard let hint = item.hint, hint.form != .uti else { return [] }
        let remedy = hint.attachmentType.map { ", such as \($0.uti)" } ?? ""
        return [
            PayloadWarning(
                .optionInvalid,
                "The type hint of \(item.path) is not a uniform type identifier (UTI), so iOS drops the file; write a "
                    + "UTI\(remedy).",
                level: .error)
        ]
    }

    @Sendable private static func missingType(_ item: CheckedItem) -> [PayloadWarning] {
        guard item.item.declaredType == nil, let pattern = item.item.location.fields[.type] else { return [] }
        guard item.item.location.types.isRequired else { return [] }
        return [
            PayloadWarning(
                .extensionMissing,
                "\(item.path) has no type (\(pattern.displayName)), and without it \(item.service)'s SDK shows no "
                    + "media; add the type.",
                level: .error)
        ]
    }

    @Sendable private static func typeAsSuffix(_ item: CheckedItem) -> [PayloadWarning] {
        guard case .fileExtension = item.item.location.types, let declared = item.declared,
            declared.form != .fileExtension || declared.format == nil
        else { return [] }
        let remedy = declared.attachmentType.map(\.fileExtension) ?? "jpg"
        return [
            PayloadWarning(
                .typeNotShown,
                "The type of \(item.path) is used as the file's extension, and iOS does not recognize that extension; "
                    + "write one such as \(remedy).")
        ]
    }

    @Sendable private static func notAnimated(_ item: CheckedItem) -> [PayloadWarning] {
        guard item.namedFormat == .gif, let why = item.stillImageReason else { return [] }
        return [PayloadWarning(.typeNotShown, "\(item.path) is a GIF, which will not animate: \(why).")]
    }

    @Sendable private static func fixedName(_ item: CheckedItem) -> [PayloadWarning] {
        guard case .fixed("png") = item.naming, let format = item.namedFormat, format.kind != .image else { return [] }
        return [
            PayloadWarning(
                .typeNotShown,
                "\(item.path) is \(format.mimeType), but \(item.service) names every file .png, so iOS shows nothing; "
                    + "send an image.",
                level: .error)
        ]
    }

    @Sendable private static func savedAsOtherType(_ item: CheckedItem) -> [PayloadWarning] {
        guard let type = item.namedFormat?.attachmentType,
            let saved = item.savedTypes.first(where: { $0.kind == type.kind }), !item.savedTypes.contains(type)
        else { return [] }
        return [
            PayloadWarning(
                .fileNameContradicted,
                "\(item.path) is \(type.mimeType), but \(item.service)'s SDK saves every \(type.kind.rawValue) file "
                    + "as .\(saved.fileExtension), and iOS takes the type from the name; send "
                    + "\(saved.fileExtension.uppercased()).")
        ]
    }
}

/// A media item with its type by payload, URL and key, and the service that sends it.
struct CheckedItem {
    let item: PayloadMediaItem
    let naming: FileNaming
    /// The service's name in messages.
    let service: String
    /// The types under whose extensions the service's SDK saves files, whatever they are.
    let savedTypes: [AttachmentType]
    /// The address as written in the payload.
    let text: String?
    /// The extension of the address, in lowercase.
    let fileExtension: String?
    /// The format by the extension, as iOS would determine it.
    let namedFormat: MediaFormat?
    let declared: DeclaredType?
    let hint: DeclaredType?
    /// The key of the address, when it names a kind of media.
    let key: MediaKey?

    var path: String { PrintableText.path(item.path) }

    init(_ item: PayloadMediaItem, dialect: PayloadDialect?, in payload: PayloadValue) {
        self.item = item
        naming = dialect.map(FileNaming.init) ?? .unknown
        service = dialect.flatMap { FileNaming.ownApps.contains($0.name) ? nil : $0.service } ?? "the app"
        savedTypes = dialect?.attachmentTypes ?? []
        text = payload.value(at: item.path)?.string
        if case .other = item.address {
            fileExtension = nil
        } else {
            fileExtension = FileName.fileExtension(of: item.address.text)
        }
        let named = fileExtension.flatMap { MediaTypeNames.extensions[$0] }
        // Some of Home Assistant's keywords are not file extensions.
        namedFormat = MediaTypeNames.nonExtensionNames.contains(fileExtension ?? "") ? nil : named
        let keywords: [TypeKeyword] =
            switch item.location.types {
            case .keywords(let keywords), .keywordsOrUTI(let keywords): keywords
            case .none, .any, .fileExtension: []
            }
        declared = item.declaredType.map { DeclaredType($0, keywords: keywords) }
        hint = item.fields[.typeHint].flatMap { payload.value(at: $0)?.string }
            .flatMap { $0.isEmpty ? nil : DeclaredType($0) }
        if case .key(let name) = item.path.steps.last {
            key = item.location.keys.first { $0.key == name }
        } else {
            key = nil
        }
    }

    /// Why the service shows a GIF as a still, and the remedy; nil when it animates.
    var stillImageReason: String? {
        switch naming {
        case .declaredKind where declared?.format != .gif && declared?.kind == .image:
            "\(service) names images .jpg; write gif as its type"
        case .fixed("png"): "\(service) names every file .png, and iOS picks the renderer by name; send a still image"
        case .fixed(nil) where key?.isAnimation == false:
            "\(service) names files of this key .jpg; use gif_url"
        case .declaredType, .declaredTypeElseURL:
            declared.flatMap(\.format).flatMap {
                $0.kind == .image && $0 != .gif ? "its type is not gif; write gif" : nil
            }
        default: nil
        }
    }
}

extension PayloadMediaItem.Address {
    /// The text of the address, in each case.
    var text: String {
        switch self {
        case .url(let text), .file(let text), .other(let text): text
        }
    }
}

extension TypeNotation {
    /// Whether the service accepts only listed types.
    var isListed: Bool {
        switch self {
        case .keywords, .keywordsOrUTI: true
        case .none, .any, .fileExtension: false
        }
    }

    /// Whether the service's SDK shows no media without a type.
    var isRequired: Bool {
        switch self {
        case .keywords, .fileExtension(standard: nil): true
        case .none, .any, .keywordsOrUTI, .fileExtension: false
        }
    }
}

extension MediaKind {
    /// The formats to send instead of a type that iOS drops.
    var remedy: String {
        switch self {
        case .image: "JPEG, PNG or GIF"
        case .audio: "MP3, M4A, WAV or AIFF"
        case .movie: "MP4"
        }
    }
}

extension MediaFormat {
    /// Whether iOS accepts the format in practice (`docs/reference/apple-attachment-rules.md` 1.2).
    var isAttachableUndocumented: Bool {
        switch self {
        case .heic, .aifc, .caf, .amr, .au, .ac3, .eac3, .quickTime, .m4v, .threeGPP, .threeGPP2: true
        default: false
        }
    }

    /// Whether iOS treats both formats alike: MPEG program streams have several names.
    func isAttached(like other: MediaFormat) -> Bool {
        self == other || (attachmentType != nil && attachmentType == other.attachmentType)
            || (Self.mpeg.contains(self) && Self.mpeg.contains(other))
    }

    private static let mpeg: Set<MediaFormat> = [.mpegProgramStream, .mpeg1Video, .mpeg2Video]
}

/// How a service's SDK names the downloaded file; iOS takes the type from the name.
///
/// Source: `docs/reference/apple-attachment-rules.md` 2.2.
enum FileNaming: Sendable, Hashable {
    /// The name that the server suggests: Content-Disposition, or else the URL's path.
    case suggestedName
    /// The name that the server suggests, or else the MIME type, for images only.
    case suggestedNameElseMIMEType
    /// The URL's path only.
    case url
    /// The URL's path, or else `.jpg`.
    case urlElseJPEG
    /// The URL's path, or else the MIME type.
    case urlElseMIMEType
    /// The URL's extension, or else the MIME type, or else the first bytes.
    case urlElseMIMETypeElseContent
    case mimeTypeElseURL
    /// The payload's type only.
    case declaredType
    /// One extension for each kind that the payload names.
    case declaredKind
    /// Always the same extension; nil when it depends on the key.
    case fixed(String?)
    /// The payload's type, or else the URL's extension.
    case declaredTypeElseURL
    /// Unknown: depends on the app.
    case unknown

    init(_ dialect: PayloadDialect) {
        self = Self.table[dialect.name] ?? .unknown
    }

    private static let table: [String: FileNaming] = [
        "iterable": .suggestedName, "pushwoosh": .suggestedName, "attach": .suggestedName,
        "countly": .suggestedName, "reteno": .suggestedName, "customer-io": .suggestedName,
        "pushengage": .suggestedName, "attentive": .url, "taplytics": .url,
        "infobip": .url, "ometria": .url, "pinpoint": .url, "motisig": .urlElseJPEG, "webengage": .urlElseJPEG,
        "izooto": .urlElseJPEG, "inngage": .urlElseJPEG, "hackle": .mimeTypeElseURL, "notifly": .declaredType,
        "fcm": .suggestedNameElseMIMEType, "notifee": .suggestedNameElseMIMEType,
        "swrve": .urlElseMIMEType, "rover": .urlElseMIMEType, "kumulos": .urlElseMIMEType,
        "adobe-journey-optimizer": .urlElseMIMEType, "appcues": .mimeTypeElseURL,
        "airship": .urlElseMIMETypeElseContent, "accengage": .urlElseMIMETypeElseContent,
        "karte": .urlElseMIMETypeElseContent,
        "salesforce": .mimeTypeElseURL, "onesignal": .mimeTypeElseURL, "aps-media": .urlElseMIMEType,
        "braze": .declaredType, "klaviyo": .declaredType, "clevertap": .declaredKind,
        "wonderpush": .declaredTypeElseURL, "home-assistant": .declaredTypeElseURL,
        "exponea": .fixed("png"), "bark": .fixed("png"), "twilio-engage": .fixed("png"), "blueshift": .fixed(nil),
    ]

    /// Dialects of tutorials and generic keys, which the app itself reads.
    static let ownApps: Set<String> = [
        "attach", "podcast", "image-url", "aps-media", "generic", "custom", "json-text", "live-activity",
    ]

    /// The consequence of a URL without an extension; nil when there is none.
    func missingExtension(_ service: String, hasType: Bool) -> String? {
        switch self {
        case .suggestedName:
            "\(service) uses the file name that the server suggests, and without an extension iOS gets no type"
        case .url:
            "\(service) names the file after the URL, and without an extension iOS gets no type"
        case .urlElseJPEG: "\(service) then names the file .jpg: movies and audio are not shown"
        case .suggestedNameElseMIMEType:
            "\(service) then uses the MIME type, for images only: movies and audio are not shown"
        case .urlElseMIMEType, .urlElseMIMETypeElseContent, .mimeTypeElseURL:
            "\(service) then depends on a correct Content-Type from the server"
        case .declaredTypeElseURL:
            hasType ? nil : "\(service) then needs a type in the payload"
        case .declaredType, .declaredKind, .fixed: nil
        case .unknown: "many apps name the file after the URL; iOS then gets no type and drops the file (error 101)"
        }
    }
}
