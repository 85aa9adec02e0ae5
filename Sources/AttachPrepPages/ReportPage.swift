import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A page about results that is one file: it asks nobody for anything, and its policy lets nothing else run.
///
/// ```swift
/// let page = ReportPage(kind: .preview, title: "cat.webp", subtitle: "", items: [ReportItem(manifest: manifest)])
/// try Data(page.html()).write(to: URL(filePath: "preview.html"))
/// ```
public struct ReportPage: Encodable, Sendable {
    public enum Kind: String, Encodable, Sendable {
        /// Totals, failures, and a table whose rows open.
        case report
        /// Each result as it is drawn.
        case preview
    }

    public var kind: Kind
    public var title: String
    public var subtitle: String
    /// How long the run took; nil where nobody looked.
    public var seconds: Double?
    /// How many sources the run was ended before.
    public var left: Int
    public var items: [ReportItem]

    public init(
        kind: Kind, title: String, subtitle: String, seconds: Double? = nil, left: Int = 0, items: [ReportItem]
    ) {
        (self.kind, self.title, self.subtitle) = (kind, title, subtitle)
        (self.seconds, self.left, self.items) = (seconds, left, items)
    }

    /// The page's bytes.
    ///
    /// - Throws: what `JSONEncoder` throws; a page holds no value that JSON cannot.
    public func html() throws -> [UInt8] {
        let (style, script) = (PageText.reportStyle, PageText.reportScript)
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
            <noscript>This page is drawn by a script of its own.</noscript>
            <script type="application/json" id="data">
            """
        let tail = "</script>\n<script>\(script)</script>\n</body>\n</html>\n"
        return Array(head.utf8) + Self.withoutMarkup(try json()) + Array(tail.utf8)
    }

    private func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// JSON in which no `<` is left, so that nothing in it can end its element: it stands in strings alone.
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
            "default-src 'none'", "style-src \(PageText.policySource(style))",
            "script-src \(PageText.policySource(script))", "img-src data:", "media-src blob:", "base-uri 'none'",
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
