import Foundation

/// A headless Chromium, as Debian has it, for tests of what people look at; ends with its last page and holder.
///
/// ```swift
/// let page = try await Browser.start().page(dark: true)
/// try await page.open(server.url("/"))
/// try await page.click("button")
/// #expect(page.complaints.isEmpty)
/// ```
///
/// It speaks the DevTools protocol over a socket, has a profile of its own in a temporary folder, and asks nobody but
/// loopback addresses for anything.
public final class Browser: Sendable {
    let link: BrowserLink
    private let running: RunningCommand
    /// Its profile and whatever else it writes.
    public let folder: TemporaryFolder

    /// The number of its first process.
    public var processID: pid_t { running.processID }

    private init(link: BrowserLink, running: RunningCommand, folder: TemporaryFolder) {
        self.link = link
        self.running = running
        self.folder = folder
    }

    deinit {
        close()
    }

    /// Starts one and waits until it answers.
    public static func start() async throws -> Browser {
        let folder = try TemporaryFolder()
        let (socket, running) = try BrowserSocket.connected { descriptor in
            var command = RunCommand(
                "chromium", flags + ["--user-data-dir=\(folder.path("profile"))"],
                environment: environment(in: folder), timeoutSeconds: secondsToEnd)
            // Commands arrive at 3, answers leave through 4: here both are one socket.
            command.inherited = [descriptor, descriptor]
            return try command.start()
        }
        let browser = Browser(link: BrowserLink(socket), running: running, folder: folder)
        do {
            try await browser.link.call("Browser.getVersion")
        } catch {
            let words = (try? running.errorTextSoFar()) ?? ""
            throw BrowserFailure(description: "\(error), and had written: \(words.suffix(1000))")
        }
        return browser
    }

    /// Opens an empty page in a window of its own, with cookies and storage of its own.
    ///
    /// - Parameters: see `BrowserPage.looks`.
    public func page(
        width: Int = 1280, height: Int = 800, scale: Double = 1, dark: Bool = false, isPhone: Bool = false,
        hasMotion: Bool = true
    ) async throws -> BrowserPage {
        let context = try await link.call("Target.createBrowserContext")["browserContextId"]
        let target = try await link.call("Target.createTarget", ["url": "about:blank", "browserContextId": context])
        let attached = try await link.call(
            "Target.attachToTarget", ["targetId": target["targetId"], "flatten": true])
        guard let session = attached["sessionId"].text else {
            throw BrowserFailure(description: "Chromium opened no page: \(attached)")
        }
        let page = BrowserPage(browser: self, session: session, context: context)
        try await page.listen()
        try await page.looks(
            width: width, height: height, scale: scale, dark: dark, isPhone: isPhone, hasMotion: hasMotion)
        return page
    }

    /// Ends it with all its processes, and waits for that; its folder goes with the last reference.
    public func close() {
        link.shutDown()
        running.sendToGroup(SIGKILL)
        // It was killed, so this is short; the folder must not be removed while somebody still writes there.
        _ = try? running.resultBlocking()
    }

    private static let secondsToEnd = 30.0

    /// No first-run pages, no calls home, no names but loopback's, and the same pixels on every machine.
    private static let flags = [
        "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
        // Tests may be root, and a container may allow no walls; the pages are our own.
        "--no-sandbox",
        // Containers' /dev/shm is often 64 MB, which a large page overruns.
        "--disable-dev-shm-usage",
        "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb", "--font-render-hinting=none",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
        "--disable-default-apps", "--disable-breakpad", "--disable-crash-reporter", "--metrics-recording-only",
        "--disable-domain-reliability", "--no-pings", "--no-proxy-server", "--password-store=basic",
        "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.* , EXCLUDE localhost",
        // Several pages are looked at in turn: none may be put to rest because another one is in front.
        "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
    ]

    /// It keeps files in several places of the home folder, which may not be there, and must not be the tester's.
    private static func environment(in folder: TemporaryFolder) -> [String: String?] {
        [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "XDG_CACHE_HOME": folder.path, "TMPDIR": folder.path,
            "LANG": "C.UTF-8", "LC_ALL": nil, "LANGUAGE": nil, "TZ": "UTC", "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
            "CHROMIUM_FLAGS": nil,
        ]
    }
}
