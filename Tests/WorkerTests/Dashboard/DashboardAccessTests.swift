import Foundation
import TestSupport
import Testing

/// Signing in and out, and file names with markup.
@Suite(.timeLimit(.minutes(3))) struct DashboardSignInTests {
    private static let token = "a-token-of-more-than-sixteen-characters"

    private static func guarded() async throws -> DashboardBench {
        try await DashboardBench(environment: ["ATTACHPREP_TOKENS": token])
    }

    @Test func `A token signs in, and scripts cannot read what the browser stores`() async throws {
        let bench = try await Self.guarded()
        let page = try await bench.open()
        try await page.shows("Sign in")
        try await page.click("#token")
        try await page.type("not the token, but as long as one")
        try await page.press("Enter")
        try await page.wait(until: "document.querySelector('[role=alert]').textContent.length > 0")
        try await page.evaluate("document.getElementById('token').value = ''")
        try await page.click("#token")
        try await page.type(Self.token)
        try await page.press("Enter")
        try await page.shows("No jobs yet")
        let readable = try await page.evaluate(
            "document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.body.innerHTML")
        #expect(readable.text?.contains(Self.token) == false)
        #expect(try await page.evaluate("document.cookie") == "")
        try await page.open(bench.service.url)
        try await page.shows("No jobs yet")
    }

    @Test func `Typed characters of a token are kept when other requests of the page fail`() async throws {
        let bench = try await Self.guarded()
        let page = try await bench.open()
        try await page.click("#token")
        try await page.type("half a tok")
        try await page.evaluate("refreshOverview()")
        try await page.evaluate("document.dispatchEvent(new CustomEvent('signedout'))")
        #expect(try await page.evaluate("document.getElementById('token').value") == "half a tok")
        #expect(try await page.evaluate("document.activeElement.id") == "token")
    }

    @Test func `Sign out ends the session`() async throws {
        let bench = try await Self.guarded()
        let page = try await bench.open()
        try await page.click("#token")
        try await page.type(Self.token)
        try await page.press("Enter")
        try await page.press(button: "Sign out")
        try await page.shows("Sign in")
        #expect(try await page.evaluate("fetch('/v1/jobs').then(({ status }) => status)") == 401)
    }

    @Test(
        arguments: [
            "<img src=x onerror=alert(1)>.png", "\"><script>alert(2)</script>.png", "javascript:alert(3)",
            "';alert(4);'.png", "{{7*7}}${7*7}.png", "</title><svg onload=alert(5)>.png",
            "\u{202E}gnp.exe.png",
        ])
    func `Markup in a file name is shown as text`(name: String) async throws {
        let bench = try await DashboardBench()
        var unreserved = CharacterSet.alphanumerics
        unreserved.insert(charactersIn: ".-_")
        let encoded = try #require(name.addingPercentEncoding(withAllowedCharacters: unreserved))
        let job = try await bench.process("/\(encoded)")
        let queries = ["job=\(job.id)"] + ["search", "error", "job", "view"].map { "\($0)=\(encoded)" }
        for path in ["/"] + queries.map({ "/?\($0)" }) {
            let page = try await bench.open(path)
            try await page.wait(until: "document.readyState === 'complete'")
            if path == "/" { try await page.shows(name, in: ".rows") }
            if path == "/?job=\(job.id)" { try await page.shows(name, in: "h1") }
            #expect(page.dialogs.isEmpty)
            #expect(try await page.evaluate("document.querySelectorAll('img[src=x], svg[onload]').length") == 0)
            #expect(
                page.issues.allSatisfy { $0.text.contains("404") || $0.text.contains("400") }, "\(page.issues)")
        }
    }

    @Test(arguments: [(1280, false), (390, true)])
    func `No page is wider than the window, light or dark, on desktop and phone`(width: Int, isPhone: Bool)
        async throws
    {
        let bench = try await DashboardBench()
        let job = try await bench.process(
            "/clock.mp4", #", "options": {"crop": {"x": 0, "y": 0, "width": 0.5, "height": 1}}"#)
        try await bench.process("/truncated.jpg")
        for path in ["/", "/?view=jobs", "/?job=\(job.id)", "/?view=try", "/?view=webhooks"] {
            var screenshots: [TestImage] = []
            for dark in [false, true] {
                let page = try await bench.open(path, width: width, height: 800, dark: dark, isPhone: isPhone)
                try await page.wait(until: "document.querySelector('main h1')")
                try await page.wait(until: "!document.querySelector('main').textContent.includes('…')")
                let widest = "document.documentElement.scrollWidth"
                #expect(try await page.evaluate("\(widest) <= innerWidth").isTrue, "\(path) \(dark)")
                screenshots.append(try await page.screenshotImage())
            }
            #expect(ImageDistance(screenshots[0], screenshots[1]).mean > 20, "\(path)")
        }
    }

    @Test(arguments: ["/", "/?view=jobs", "/?view=try", "/?view=webhooks", "job"])
    func `Every control has an accessible name`(path: String) async throws {
        let bench = try await DashboardBench()
        let job = try await bench.process("/clock.mp4")
        let page = try await bench.open(path == "job" ? "/?job=\(job.id)" : path)
        try await page.wait(until: "document.querySelector('main h1')")
        let roles: Set = [
            "button", "link", "textbox", "searchbox", "combobox", "checkbox", "slider", "spinbutton", "dialog", "table",
            "navigation", "region",
        ]
        let nodes = try await page.accessibilityTree().filter { roles.contains($0.role) }
        #expect(nodes.count > 8)
        #expect(nodes.filter(\.name.isEmpty).map(\.role).isEmpty)
    }

    @Test func `A job can be opened and left with the keyboard alone`() async throws {
        let bench = try await DashboardBench()
        try await bench.process("/grid.png")
        let page = try await bench.open()
        try await page.shows("grid.png", in: ".rows")
        try await page.press("Tab")
        #expect(try await page.evaluate("document.activeElement.className") == "skip")
        var steps = 0
        while try await page.evaluate("document.activeElement.textContent") != "grid.png", steps < 60 {
            try await page.press("Tab")
            steps += 1
        }
        try await page.press("Enter")
        try await page.shows("grid.png", in: "h1")
        #expect(try await page.evaluate("document.activeElement.id") == "main")
        try await page.evaluate("history.back()")
        try await page.shows("grid.png", in: ".rows")
    }
}
