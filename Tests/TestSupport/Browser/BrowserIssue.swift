import Synchronization

/// A defect of a page that the browser reported.
public struct BrowserIssue: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// An uncaught exception or rejected promise.
        case exception
        /// The page's own `console.error`, `console.warn` or a failed `console.assert`.
        case console
        /// Reported by the browser itself: a file that failed to load, a violation of the content security policy.
        case browser
    }

    public let kind: Kind
    public let text: String
    /// The URL where it happened or of the file it is about; empty when unknown.
    public let url: String

    public init(kind: Kind, text: String, url: String) {
        self.kind = kind
        self.text = text
        self.url = url
    }

    public var description: String { "\(kind.rawValue): \(text)\(url.isEmpty ? "" : " (\(url))")" }
}

extension BrowserIssue {
    /// The issue in a protocol event; nil when the event is not an issue.
    init?(event: String, _ content: PageValue) {
        switch event {
        case "Runtime.exceptionThrown":
            let details = content["exceptionDetails"]
            let text = details["exception"]["description"].text ?? details["text"].text ?? "an exception"
            self.init(kind: .exception, text: text, url: details["url"].text ?? "")
        case "Runtime.consoleAPICalled":
            guard ["error", "warning", "assert"].contains(content["type"].text) else { return nil }
            let texts = content["args"].items.map { Self.text(of: $0) }
            let url = content["stackTrace"]["callFrames"][0]["url"].text ?? ""
            self.init(kind: .console, text: texts.joined(separator: " "), url: url)
        case "Log.entryAdded":
            let entry = content["entry"]
            guard ["error", "warning"].contains(entry["level"].text) else { return nil }
            self.init(kind: .browser, text: entry["text"].text ?? "", url: entry["url"].text ?? "")
        default:
            return nil
        }
    }

    /// An argument of a console call as the console shows it.
    private static func text(of argument: PageValue) -> String {
        switch argument["value"] {
        case .string(let text): text
        case .number(let number): String(number)
        case .bool(let bool): String(bool)
        default: argument["description"].text ?? argument["type"].text ?? ""
        }
    }
}

/// The events of a page and of its frames and workers, as the browser reported them.
final class PageEventLog: Sendable {
    private struct State {
        var issues: [BrowserIssue] = []
        var requests: [String] = []
        var dialogs: [String] = []
    }

    private let state = Mutex(State())

    var issues: [BrowserIssue] { state.withLock { $0.issues } }
    var requests: [String] { state.withLock { $0.requests } }
    var dialogs: [String] { state.withLock { $0.dialogs } }

    func record(event: String, _ content: PageValue) {
        state.withLock { state in
            if let issue = BrowserIssue(event: event, content) { state.issues.append(issue) }
            if event == "Network.requestWillBeSent", let url = content["request"]["url"].text {
                state.requests.append(url)
            }
            if event == "Page.javascriptDialogOpening" { state.dialogs.append(content["message"].text ?? "") }
        }
    }

    func clear() {
        state.withLock { $0 = State() }
    }
}

/// The browser returned an error, a page's script threw, or a condition never came true.
public struct BrowserError: Error, CustomStringConvertible {
    public let description: String

    /// Whether the page navigated while its script ran: the script may succeed in the new document.
    var isNavigation: Bool {
        [
            "Inspected target navigated", "Execution context was destroyed", "Cannot find context",
            "Cannot find default execution context", "Promise was collected",
        ].contains { description.contains($0) }
    }
}
