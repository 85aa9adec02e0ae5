/// How a service's SDK names the downloaded file, which is how iOS knows its type. Source: `apple-attachments.md` 2.2.
enum FileNaming: Sendable, Hashable {
    /// As the server suggests: Content-Disposition, else the URL's path.
    case suggestedName
    /// As the server suggests, else after an image's MIME type.
    case suggestedNameElseMIMEType
    /// After the URL's path, else the MIME type.
    case urlElseMIMEType
    /// After the URL's extension, the MIME type or the first bytes.
    case urlElseMIMETypeElseContent
    /// After the MIME type, else the URL.
    case mimeTypeElseURL
    /// After the payload's type; the file is not looked at.
    case declaredType
    /// One extension for each kind that the payload names.
    case declaredKind
    /// Always the same, whatever it is; nil when it goes with the key.
    case fixed(String?)
    /// After the payload's type, else the URL's extension.
    case declaredTypeElseURL
    /// An app of somebody's own, or nothing is known.
    case unknown

    init(_ dialect: PayloadDialect) {
        self = Self.table[dialect.name] ?? .unknown
    }

    private static let table: [String: FileNaming] = [
        "iterable": .suggestedName, "pushwoosh": .suggestedName, "attach": .suggestedName,
        "fcm": .suggestedNameElseMIMEType, "notifee": .suggestedNameElseMIMEType,
        "swrve": .urlElseMIMEType, "rover": .urlElseMIMEType, "kumulos": .urlElseMIMEType,
        "airship": .urlElseMIMETypeElseContent, "accengage": .urlElseMIMETypeElseContent,
        "karte": .urlElseMIMETypeElseContent,
        "salesforce": .mimeTypeElseURL, "onesignal": .mimeTypeElseURL, "aps-media": .urlElseMIMEType,
        "braze": .declaredType, "klaviyo": .declaredType, "clevertap": .declaredKind,
        "wonderpush": .declaredTypeElseURL, "home-assistant": .declaredTypeElseURL,
        "exponea": .fixed("png"), "bark": .fixed("png"), "blueshift": .fixed(nil),
    ]

    /// Dialects of tutorials and of nobody: what reads them is the app itself.
    static let ownApps: Set<String> = ["attach", "podcast", "image-url", "aps-media", "generic", "custom"]

    /// What becomes of a URL without an extension; nil when nothing is wrong with it.
    func missingExtension(_ service: String, hasType: Bool) -> String? {
        switch self {
        case .suggestedName:
            "\(service) names the file as the server suggests, which without an extension leaves iOS no type"
        case .suggestedNameElseMIMEType:
            "\(service) then goes by the MIME type, of images alone: a movie or a sound is not shown"
        case .urlElseMIMEType, .urlElseMIMETypeElseContent, .mimeTypeElseURL:
            "\(service) then depends on the server's Content-Type being right"
        case .declaredTypeElseURL:
            hasType ? nil : "\(service) then knows no type without one in the payload"
        case .declaredType, .declaredKind, .fixed: nil
        case .unknown: "many apps name the file after the URL, and then iOS knows no type and drops it (error 101)"
        }
    }
}
