import Foundation

/// A page in a browser: open, evaluate, wait; input is in `BrowserPage+Input`, appearance in `BrowserPage+Appearance`.
public final class BrowserPage: Sendable {
    /// Retained by the page, which is of no use without its browser.
    public let browser: Browser
    private let session: String
    private let context: PageValue
    private let eventLog = PageEventLog()

    init(browser: Browser, session: String, context: PageValue) {
        self.browser = browser
        self.session = session
        self.context = context
    }

    /// Closes the window with the last reference, since each of its frames is a process. Does not retain the browser.
    deinit {
        Task { [connection = browser.connection, context] in
            _ = try? await connection.call("Target.disposeBrowserContext", ["browserContextId": context])
        }
    }

    /// Issues so far: exceptions, errors and warnings on the console, files that failed to load, violations of the
    /// content security policy.
    public var issues: [BrowserIssue] { eventLog.issues }

    /// The URL of every request so far, blocked ones and those of frames and workers included.
    public var requests: [String] { eventLog.requests }

    /// The texts of `alert`, `confirm` and `prompt` so far; each was accepted.
    public var dialogs: [String] { eventLog.dialogs }

    /// Clears the issues, requests and dialogs so far.
    public func clearEvents() {
        eventLog.clear()
    }

    /// Opens a URL and waits until the page is loaded.
    public func open(_ url: String) async throws {
        let response = try await call("Page.navigate", ["url": .string(url)])
        if let error = response["errorText"].text {
            throw BrowserError(description: "\(url) did not open: \(error)")
        }
        try await wait(until: "document.readyState === 'complete'")
    }

    /// The value of an expression in the page; a promise is awaited.
    ///
    /// - Throws: `BrowserError` with the text of what the script threw.
    @discardableResult
    public func evaluate(_ javascript: String) async throws -> PageValue {
        try await evaluate(javascript, seconds: 60)
    }

    private func evaluate(_ javascript: String, seconds: Double) async throws -> PageValue {
        let response = try await call(
            "Runtime.evaluate",
            ["expression": .string(javascript), "awaitPromise": true, "returnByValue": true, "userGesture": true],
            seconds: seconds)
        let details = response["exceptionDetails"]
        guard details == .null else {
            let text = details["exception"]["description"].text ?? details["exception"]["value"].text
            throw BrowserError(description: text ?? details["text"].text ?? "the script failed")
        }
        let result = response["result"]
        // NaN, infinities and big integers are not JSON; they arrive as strings.
        return result["value"] == .null ? result["unserializableValue"] : result["value"]
    }

    /// Waits until an expression is true in the page, also across navigations.
    ///
    /// - Throws: `BrowserError` with the page's text when that does not happen in time.
    public func wait(until javascript: String, seconds: Double = 30) async throws {
        let end = Date(timeIntervalSinceNow: seconds)
        while true {
            do {
                let left = max(end.timeIntervalSinceNow, 0)
                let text = try await evaluate(Self.waiting(for: javascript, seconds: left), seconds: left + 30)
                guard let text = text.text else { return }
                throw BrowserError(description: "\(javascript) never came true; the page: \(text)")
            } catch let error as BrowserError where error.isNavigation && Date() < end {
                continue
            }
        }
    }

    /// Polls in the page itself, 100 times a second; the value is null, or the page's text when time is over.
    private static func waiting(for javascript: String, seconds: Double) -> String {
        """
        (async () => {
            const end = performance.now() + \(seconds * 1000)
            for (;;) {
                let problem = ""
                try { if (await (\(javascript))) return null } catch (error) { problem = String(error) + "; " }
                if (performance.now() >= end) return problem + (document.body?.innerText ?? "")
                await new Promise(resolve => setTimeout(resolve, 10))
            }
        })()
        """
    }

    func call(_ method: String, _ parameters: [String: PageValue] = [:], seconds: Double = 60) async throws -> PageValue
    {
        try await browser.connection.call(method, parameters, session: session, seconds: seconds)
    }

    /// Enables the events that the event log records.
    func listen() async throws {
        browser.connection.record(session, in: eventLog)
        for (method, parameters) in DevToolsConnection.eventDomains + [("Page.enable", [:])] {
            _ = try await call(method, parameters)
        }
    }
}
