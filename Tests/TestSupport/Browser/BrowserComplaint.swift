/// Something that a page's author should have heard of.
public struct BrowserComplaint: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// An exception or a rejected promise that nobody caught.
        case exception
        /// The page's own `console.error`, `console.warn` or a failed `console.assert`.
        case console
        /// The browser's word: a file that did not come, a content security policy that was broken.
        case browser
    }

    public let kind: Kind
    public let text: String
    /// Where it happened, or which file it is about; empty when the browser does not say.
    public let url: String

    public init(kind: Kind, text: String, url: String) {
        self.kind = kind
        self.text = text
        self.url = url
    }

    public var description: String { "\(kind.rawValue): \(text)\(url.isEmpty ? "" : " (\(url))")" }
}

extension BrowserComplaint {
    /// What an event of the protocol complains of; nil when it does not.
    init?(event: String, _ content: PageValue) {
        switch event {
        case "Runtime.exceptionThrown":
            let details = content["exceptionDetails"]
            let text = details["exception"]["description"].text ?? details["text"].text ?? "an exception"
            self.init(kind: .exception, text: text, url: details["url"].text ?? "")
        case "Runtime.consoleAPICalled":
            guard ["error", "warning", "assert"].contains(content["type"].text) else { return nil }
            let words = content["args"].items.map { Self.word($0) }
            let url = content["stackTrace"]["callFrames"][0]["url"].text ?? ""
            self.init(kind: .console, text: words.joined(separator: " "), url: url)
        case "Log.entryAdded":
            let entry = content["entry"]
            guard ["error", "warning"].contains(entry["level"].text) else { return nil }
            self.init(kind: .browser, text: entry["text"].text ?? "", url: entry["url"].text ?? "")
        default:
            return nil
        }
    }

    /// An argument of the console as a reader sees it.
    private static func word(_ argument: PageValue) -> String {
        switch argument["value"] {
        case .string(let text): text
        case .number(let number): String(number)
        case .truth(let truth): String(truth)
        default: argument["description"].text ?? argument["type"].text ?? ""
        }
    }
}
