import Foundation

/// A page in a browser: opened, asked, looked at; what is done with it is in `BrowserPage+Input`.
public final class BrowserPage: Sendable {
    /// Kept while the page is: it is of no use without its browser.
    public let browser: Browser
    private let session: String
    private let context: PageValue
    private let diary = PageDiary()

    init(browser: Browser, session: String, context: PageValue) {
        self.browser = browser
        self.session = session
        self.context = context
    }

    /// Its window goes with its last holder: each frame of it is a process. The browser is not kept for that.
    deinit {
        Task { [link = browser.link, context] in
            _ = try? await link.call("Target.disposeBrowserContext", ["browserContextId": context])
        }
    }

    /// What the page, or the browser about it, complained of so far: exceptions, errors and warnings on the console,
    /// files that did not come, broken content security policies.
    public var complaints: [BrowserComplaint] { diary.complaints }

    /// The address of every request so far, of its frames and workers, too; those that were refused included.
    public var requests: [String] { diary.requests }

    /// The questions of `alert`, `confirm` and `prompt` so far; each was answered with yes.
    public var dialogs: [String] { diary.dialogs }

    /// Forgets complaints, requests and dialogs so far.
    public func forget() {
        diary.forget()
    }

    /// Opens an address and waits until all of it is loaded.
    public func open(_ url: String) async throws {
        let answer = try await call("Page.navigate", ["url": .string(url)])
        if let failure = answer["errorText"].text {
            throw BrowserFailure(description: "\(url) did not open: \(failure)")
        }
        try await waits(until: "document.readyState === 'complete'")
    }

    /// The value of an expression in the page; a promise is awaited.
    ///
    /// - Throws: `BrowserFailure` with the text of what the script threw.
    @discardableResult
    public func evaluate(_ javascript: String) async throws -> PageValue {
        try await evaluate(javascript, seconds: 60)
    }

    private func evaluate(_ javascript: String, seconds: Double) async throws -> PageValue {
        let answer = try await call(
            "Runtime.evaluate",
            ["expression": .string(javascript), "awaitPromise": true, "returnByValue": true, "userGesture": true],
            seconds: seconds)
        let trouble = answer["exceptionDetails"]
        guard trouble == .null else {
            let text = trouble["exception"]["description"].text ?? trouble["exception"]["value"].text
            throw BrowserFailure(description: text ?? trouble["text"].text ?? "the script failed")
        }
        let result = answer["result"]
        // NaN, infinities and big integers are no JSON; they come as texts.
        return result["value"] == .null ? result["unserializableValue"] : result["value"]
    }

    /// Waits until an expression is true in the page, also while the page goes from one document to another.
    ///
    /// - Throws: `BrowserFailure` with the page's text when that does not happen in time.
    public func waits(until javascript: String, seconds: Double = 30) async throws {
        let end = Date(timeIntervalSinceNow: seconds)
        while true {
            do {
                let left = max(end.timeIntervalSinceNow, 0)
                let text = try await evaluate(Self.waiting(for: javascript, seconds: left), seconds: left + 30)
                guard let text = text.text else { return }
                throw BrowserFailure(description: "\(javascript) never came true; the page: \(text)")
            } catch let failure as BrowserFailure where failure.isNavigation && Date() < end {
                continue
            }
        }
    }

    /// Asks in the page itself, a hundred times a second; its value is null, or what was there when time was over.
    private static func waiting(for javascript: String, seconds: Double) -> String {
        """
        (async () => {
            const end = performance.now() + \(seconds * 1000)
            for (;;) {
                let trouble = ""
                try { if (await (\(javascript))) return null } catch (error) { trouble = String(error) + "; " }
                if (performance.now() >= end) return trouble + (document.body?.innerText ?? "")
                await new Promise(resolve => setTimeout(resolve, 10))
            }
        })()
        """
    }

    func call(_ method: String, _ parameters: [String: PageValue] = [:], seconds: Double = 60) async throws -> PageValue
    {
        try await browser.link.call(method, parameters, session: session, seconds: seconds)
    }

    /// Has the browser report what the diary wants to know.
    func listen() async throws {
        browser.link.follow(session, in: diary)
        for (method, parameters) in BrowserLink.listening + [("Page.enable", [:])] {
            _ = try await call(method, parameters)
        }
    }
}
