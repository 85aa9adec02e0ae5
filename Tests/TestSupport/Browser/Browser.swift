import Foundation
import Synchronization

/// Debian's Chromium without a user interface, for tests of pages; ends when its last page and reference are released.
///
/// ```swift
/// let page = try await Browser.start().page(dark: true)
/// try await page.open(server.url("/"))
/// try await page.click("button")
/// #expect(page.issues.isEmpty)
/// ```
///
/// It speaks the DevTools protocol over a socket, has its own profile in a temporary folder, and connects only to
/// loopback addresses. The smaller program needs less than half of the processor time of `chromium --headless`.
public final class Browser: Sendable {
    let connection: DevToolsConnection
    private let running: RunningCommand
    /// The profile and all other files that it writes.
    public let folder: TemporaryFolder

    /// The ID of its main process.
    public var processID: pid_t { running.processID }

    private init(connection: DevToolsConnection, running: RunningCommand, folder: TemporaryFolder) {
        self.connection = connection
        self.running = running
        self.folder = folder
    }

    deinit {
        close()
    }

    /// Starts a browser and waits until it responds.
    public static func start() async throws -> Browser {
        let folder = try TemporaryFolder()
        let (socket, running) = try DevToolsSocket.connected { descriptor in
            var command = RunCommand(
                "chromium-headless-shell", flags + ["--user-data-dir=\(folder.path("profile"))"],
                environment: environment(in: folder), timeoutSeconds: secondsToEnd)
            // Commands arrive at descriptor 3, responses leave through 4: here both are the same socket.
            command.inherited = [descriptor, descriptor]
            return try command.start()
        }
        let browser = Browser(connection: DevToolsConnection(socket), running: running, folder: folder)
        do {
            try await browser.connection.call("Browser.getVersion")
        } catch {
            let output = (try? running.errorTextSoFar()) ?? ""
            throw BrowserError(description: "\(error); its standard error: \(output.suffix(1000))")
        }
        return browser
    }

    /// Opens an empty page in its own window, with its own cookies and storage.
    ///
    /// - Parameters: see `BrowserPage.emulate`.
    public func page(
        width: Int = 1280, height: Int = 800, scale: Double = 1, dark: Bool = false, isPhone: Bool = false,
        hasMotion: Bool = true
    ) async throws -> BrowserPage {
        let context = try await connection.call("Target.createBrowserContext")["browserContextId"]
        let target = try await connection.call(
            "Target.createTarget", ["url": "about:blank", "browserContextId": context])
        let attached = try await connection.call(
            "Target.attachToTarget", ["targetId": target["targetId"], "flatten": true])
        guard let session = attached["sessionId"].text else {
            throw BrowserError(description: "Chromium opened no page: \(attached)")
        }
        let page = BrowserPage(browser: self, session: session, context: context)
        try await page.listen()
        try await page.emulate(
            width: width, height: height, scale: scale, dark: dark, isPhone: isPhone, hasMotion: hasMotion)
        return page
    }

    /// Ends all its processes and waits for that; its folder is removed with the last reference.
    public func close() {
        connection.shutDown()
        running.sendToGroup(SIGKILL)
        // It was killed, so this is short; the folder must not be removed while a process still writes there.
        _ = try? running.resultBlocking()
    }

    private static let secondsToEnd = 30.0

    /// No first-run pages, no background network requests, only loopback names, the same pixels on every machine.
    private static let flags = [
        "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
        // Tests may run as root, and a container may not allow a sandbox; the pages are trusted.
        "--no-sandbox",
        // Containers' /dev/shm is often 64 MB, which a large page overruns.
        "--disable-dev-shm-usage",
        "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb", "--font-render-hinting=none",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
        "--disable-default-apps", "--disable-breakpad", "--disable-crash-reporter", "--metrics-recording-only",
        "--disable-domain-reliability", "--no-pings", "--no-proxy-server", "--password-store=basic",
        "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.* , EXCLUDE localhost",
        // Several pages are inspected in turn: none may be throttled because another one is in front.
        "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
    ]

    /// Chromium writes to several folders of HOME, which may not exist and must not be the developer's.
    private static func environment(in folder: TemporaryFolder) -> [String: String?] {
        [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "XDG_CACHE_HOME": folder.path, "TMPDIR": folder.path,
            "LANG": "C.UTF-8", "LC_ALL": nil, "LANGUAGE": nil, "TZ": "UTC", "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
            "CHROMIUM_FLAGS": nil,
        ]
    }
}

/// One browser for all tests of a run, ended with the process. Each of its pages has its own cookies and storage.
public actor SharedBrowser {
    private static let shared = SharedBrowser()
    private static let running = Mutex<Browser?>(nil)
    private var started: Task<Browser, any Error>?

    /// The browser, started by the first call.
    public static func get() async throws -> Browser { try await shared.browser() }

    private static func end() {
        guard let browser = running.withLock({ $0 }) else { return }
        browser.close()
        try? FileManager.default.removeItem(at: browser.folder.url)
    }

    private func browser() async throws -> Browser {
        if let started { return try await started.value }
        let task = Task {
            let browser = try await Browser.start()
            Self.running.withLock { $0 = browser }
            // No deinit runs when a process exits, so the profile would stay.
            atexit { SharedBrowser.end() }
            return browser
        }
        started = task
        return try await task.value
    }
}
