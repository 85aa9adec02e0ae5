public import AttachPrepModel
import FoundationEssentials
public import MediaTypes

/// A report or preview as a self-contained HTML file: it loads nothing, and its content security policy allows only its
/// own script.
///
/// ```swift
/// let page = ReportPage(kind: .preview, title: "cat.webp", subtitle: "", items: [ReportItem(manifest: manifest)])
/// try Data(page.html()).write(to: URL(filePath: "preview.html"))
/// ```
public struct ReportPage: Encodable, Sendable {
    public enum Kind: String, Encodable, Sendable {
        /// Totals, failures, and a table of results with details.
        case report
        /// Each result drawn as a notification.
        case preview
    }

    public var kind: Kind
    public var title: String
    public var subtitle: String
    /// The duration of the run in seconds; nil if unknown.
    public var seconds: Double?
    /// The number of sources not processed when the run was interrupted.
    public var left: Int
    public var items: [ReportItem]

    public init(
        kind: Kind, title: String, subtitle: String, seconds: Double? = nil, left: Int = 0, items: [ReportItem]
    ) {
        (self.kind, self.title, self.subtitle) = (kind, title, subtitle)
        (self.seconds, self.left, self.items) = (seconds, left, items)
    }

    /// The HTML file.
    ///
    /// - Throws: Errors of `JSONEncoder`, which do not occur for the values of a page.
    public func html() throws -> [UInt8] {
        let (style, script) = (PageBundle.reportStyle, PageBundle.reportScript)
        let head = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="\(Self.policy(style: style, script: script))">
            <meta name="referrer" content="no-referrer">
            <link rel="icon" href="data:,">
            <title>\(Self.escaped(title))</title>
            <style>\(style)</style>
            </head>
            <body>
            <noscript>This page requires JavaScript.</noscript>
            <script type="application/json" id="data">
            """
        let tail = "</script>\n<script>\(script)</script>\n</body>\n</html>\n"
        return Array(head.utf8) + Self.withoutMarkup(try json()) + Array(tail.utf8)
    }

    private func json() throws -> Data {
        try JSONEncoder.singleLine.encode(self)
    }

    /// Replaces `<` with `\u003c`, so that no string in the JSON can end the script element.
    private static func withoutMarkup(_ json: Data) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count + 1024)
        for part in json.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false) {
            if !bytes.isEmpty { bytes += Array("\\u003c".utf8) }
            bytes += part
        }
        return bytes
    }

    private static func policy(style: String, script: String) -> String {
        [
            "default-src 'none'", "style-src \(PageBundle.policySource(style))",
            "script-src \(PageBundle.policySource(script))", "img-src data:", "media-src blob:", "base-uri 'none'",
            "form-action 'none'", "require-trusted-types-for 'script'",
        ].joined(separator: "; ")
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}

/// A result on a page: its manifest and its embedded files.
public struct ReportItem: Encodable, Sendable {
    public var manifest: Manifest
    public var media: ReportMedia
    public var text: NotificationText

    public init(manifest: Manifest, media: ReportMedia = ReportMedia(), text: NotificationText = .sample) {
        (self.manifest, self.media, self.text) = (manifest, media, text)
    }
}

/// The embedded files of a result; nil for files that are not embedded.
public struct ReportMedia: Encodable, Sendable, Hashable {
    public var attachment: EmbeddedFile?
    public var thumbnail: EmbeddedFile?
    /// The pictures for other systems, by key; left out when there are none.
    public var renditions: [String: EmbeddedFile]?

    public init(
        attachment: EmbeddedFile? = nil, thumbnail: EmbeddedFile? = nil, renditions: [String: EmbeddedFile]? = nil
    ) {
        (self.attachment, self.thumbnail, self.renditions) = (attachment, thumbnail, renditions)
    }
}

/// A file embedded in a page.
public struct EmbeddedFile: Encodable, Sendable, Hashable {
    /// The MIME type.
    public var type: String
    /// The content in base64.
    public var data: String

    public init(type: String, base64: String) {
        (self.type, data) = (type, base64)
    }
}

/// The text of a drawn notification.
public struct NotificationText: Encodable, Sendable, Hashable {
    /// The name of the app, shown if there is no title.
    public var app: String
    public var title: String?
    public var subtitle: String?
    public var body: String?

    public init(app: String = "Your app", title: String? = nil, subtitle: String? = nil, body: String? = nil) {
        (self.app, self.title, self.subtitle, self.body) = (app, title, subtitle, body)
    }

    /// Placeholder text for a notification without a payload.
    public static let sample = NotificationText(title: "Title", body: "The text of the notification.")

    /// The text of a payload's alert (`aps.alert`, a string or an object); localization keys are shown as text.
    ///
    /// - Returns: Nil for a payload without an alert.
    public init?(payload: PayloadValue) {
        guard let alert = payload["aps"]?["alert"] else { return nil }
        self.init()
        if let body = alert.string {
            self.body = body
            return
        }
        title = alert["title"]?.string ?? alert["title-loc-key"]?.string
        subtitle = alert["subtitle"]?.string ?? alert["subtitle-loc-key"]?.string
        body = alert["body"]?.string ?? alert["loc-key"]?.string
    }
}

/// Limits the bytes embedded in a page, which a browser has to load before it shows anything.
public struct EmbeddingLimits: Sendable {
    /// The largest attachment to embed, in bytes.
    public let attachmentBytesMax: Int
    private var attachmentBytesLeft: Int
    private var thumbnailBytesLeft: Int

    public init(_ kind: ReportPage.Kind) {
        switch kind {
        case .report:
            attachmentBytesMax = Limits.reportAttachmentBytesMax
            attachmentBytesLeft = Limits.reportAttachmentsBytesMax
        case .preview:
            attachmentBytesMax = Limits.previewAttachmentsBytesMax
            attachmentBytesLeft = Limits.previewAttachmentsBytesMax
        }
        thumbnailBytesLeft = Limits.reportThumbnailsBytesMax
    }

    /// Reserves bytes for an attachment; false if it does not fit.
    public mutating func takesAttachment(bytes: Int) -> Bool {
        guard bytes <= attachmentBytesMax, bytes <= attachmentBytesLeft else { return false }
        attachmentBytesLeft -= bytes
        return true
    }

    /// Reserves bytes for a thumbnail; false if it does not fit.
    public mutating func takesThumbnail(bytes: Int) -> Bool {
        guard bytes <= thumbnailBytesLeft else { return false }
        thumbnailBytesLeft -= bytes
        return true
    }
}

extension Limits {
    /// Total size of a report's thumbnails: browsers read 40 MB of page in about 1 s.
    static let reportThumbnailsBytesMax = 40_000_000
    /// Larger animations, movies and audio files are not embedded in a report's details.
    package static let reportAttachmentBytesMax = 1_500_000
    /// Total size of a report's embedded attachments, for the same second.
    package static let reportAttachmentsBytesMax = 24_000_000
    /// Total size of a preview's attachments, of which there are few: one of Apple's largest movies.
    static let previewAttachmentsBytesMax = 50_000_000
}
