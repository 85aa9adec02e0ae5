import Foundation
import TestSupport
import Testing

/// Who sees the page, how it reads for whom, and what it makes of hostile names.
@Suite(.timeLimit(.minutes(3))) struct DashboardAccessTests {
    private static let token = "a-token-of-more-than-sixteen-characters"

    private static func guarded() async throws -> DashboardBench {
        try await DashboardBench(environment: ["ATTACHPREP_TOKENS": token])
    }

    @Test func `Who has a token signs in, and no script can read what the browser keeps of it`() async throws {
        let bench = try await Self.guarded()
        let page = try await bench.open()
        try await page.shows("Sign in")
        try await page.click("#token")
        try await page.type("not the token, but as long as one")
        try await page.press("Enter")
        try await page.waits(until: "document.querySelector('[role=alert]').textContent.length > 0")
        try await page.evaluate("document.getElementById('token').value = ''")
        try await page.click("#token")
        try await page.type(Self.token)
        try await page.press("Enter")
        try await page.shows("No jobs yet")
        let kept = try await page.evaluate(
            "document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.body.innerHTML")
        #expect(kept.text?.contains(Self.token) == false)
        #expect(try await page.evaluate("document.cookie") == "")
        try await page.open(bench.service.url)
        try await page.shows("No jobs yet")
    }

    @Test func `What is being typed to sign in stays, whatever else the page asks meanwhile`() async throws {
        let bench = try await Self.guarded()
        let page = try await bench.open()
        try await page.click("#token")
        try await page.type("half a tok")
        try await page.evaluate("refreshOverview()")
        try await page.evaluate("document.dispatchEvent(new CustomEvent('signedout'))")
        #expect(try await page.evaluate("document.getElementById('token').value") == "half a tok")
        #expect(try await page.evaluate("document.activeElement.id") == "token")
    }

    @Test func `Who signs out is signed out`() async throws {
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
    func `A name that holds markup stands there as text`(name: String) async throws {
        let bench = try await DashboardBench()
        var unreserved = CharacterSet.alphanumerics
        unreserved.insert(charactersIn: ".-_")
        let path = try #require(name.addingPercentEncoding(withAllowedCharacters: unreserved))
        let job = try await bench.work("/\(path)")
        for place in ["/", "/?job=\(job.id)", "/?search=\(path)", "/?error=\(path)", "/?job=\(path)", "/?view=\(path)"]
        {
            let page = try await bench.open(place)
            try await page.waits(until: "document.readyState === 'complete'")
            if place == "/" { try await page.shows(name, in: ".rows") }
            if place == "/?job=\(job.id)" { try await page.shows(name, in: "h1") }
            #expect(page.dialogs.isEmpty)
            #expect(try await page.evaluate("document.querySelectorAll('img[src=x], svg[onload]').length") == 0)
            #expect(
                page.complaints.allSatisfy { $0.text.contains("404") || $0.text.contains("400") }, "\(page.complaints)")
        }
    }

    @Test(arguments: [(1280, false), (390, true)])
    func `Nothing is wider than the window, light or dark, at a desk or on a phone`(width: Int, isPhone: Bool)
        async throws
    {
        let bench = try await DashboardBench()
        let job = try await bench.work(
            "/clock.mp4", #", "options": {"crop": {"x": 0, "y": 0, "width": 0.5, "height": 1}}"#)
        try await bench.work("/truncated.jpg")
        for place in ["/", "/?view=jobs", "/?job=\(job.id)", "/?view=try", "/?view=webhooks"] {
            var pictures: [TestPicture] = []
            for dark in [false, true] {
                let page = try await bench.open(place, width: width, height: 800, dark: dark, isPhone: isPhone)
                try await page.waits(until: "document.querySelector('main h1')")
                try await page.waits(until: "!document.querySelector('main').textContent.includes('…')")
                let widest = "document.documentElement.scrollWidth"
                #expect(try await page.evaluate("\(widest) <= innerWidth").isTrue, "\(place) \(dark)")
                pictures.append(try await page.picture())
            }
            #expect(PictureDistance(pictures[0], pictures[1]).mean > 20, "\(place)")
        }
    }

    @Test(arguments: ["/", "/?view=jobs", "/?view=try", "/?view=webhooks", "job"])
    func `Whatever can be pressed or filled in has a name`(place: String) async throws {
        let bench = try await DashboardBench()
        let job = try await bench.work("/clock.mp4")
        let page = try await bench.open(place == "job" ? "/?job=\(job.id)" : place)
        try await page.waits(until: "document.querySelector('main h1')")
        let roles: Set = [
            "button", "link", "textbox", "searchbox", "combobox", "checkbox", "slider", "spinbutton", "dialog", "table",
            "navigation", "region",
        ]
        let nodes = try await page.accessibilityTree().filter { roles.contains($0.role) }
        #expect(nodes.count > 8)
        #expect(nodes.filter(\.name.isEmpty).map(\.role).isEmpty)
    }

    @Test func `The keyboard alone leads from the top to a job and back`() async throws {
        let bench = try await DashboardBench()
        try await bench.work("/grid.png")
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
