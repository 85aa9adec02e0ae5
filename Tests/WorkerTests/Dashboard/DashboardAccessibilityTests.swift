import Foundation
import TestSupport
import Testing

/// Accessibility: axe-core on every page, accessible names, and the keyboard (issue 19, item 14).
@Suite(.timeLimit(.minutes(8))) struct DashboardAccessibilityTests {
    /// A service with jobs of each media kind and state, and the paths of its pages.
    private static func prepared(isPhone: Bool) async throws -> (DashboardBench, [String]) {
        let bench = try await DashboardBench(
            [
                "--allow-callback-network", "127.0.0.0/8", "--environment-name", "Staging 2", "--environment-color",
                isPhone ? "orange" : "red",
            ],
            environment: ["ATTACHPREP_WEBHOOK_SECRETS": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
        bench.origin.serve("/hook", .status(500))
        var paths = [
            "/", "/?view=campaigns", "/?view=jobs", "/?state=failed", "/?state=cancelled", "/?view=try",
            "/?view=webhooks", "/?job=01a2003d-a3b2-700b-ba31-e2f7b414981c",
        ]
        for (path, fields) in [
            ("/clock.mkv", #", "id": "push-1", "options": {"crop": {"x": 0, "y": 0, "width": 0.5, "height": 1}}"#),
            ("/counter.gif", ""), ("/tone.flac", ""), ("/grid.webp", #", "id": "push-2""#),
            ("/truncated.jpg", #", "callbackURL": "\#(bench.origin.url("/hook"))""#), ("/nothing.png", ""),
        ] {
            paths.append("/?job=\(try await bench.process(path, fields).id)")
        }
        paths.append("/?job=\(try await bench.submit("/grid.png", #", "notBefore": "2099-01-01T00:00:00Z""#))")
        try await pollUntil("the webhook was tried") { bench.origin.requests.contains { $0.path == "/hook" } }
        return (bench, paths)
    }

    /// Layout depends on the width and contrast on the colors, so each page is checked in two of the four combinations.
    @Test(arguments: [false, true])
    func `axe finds no violations on any page, light on desktop and dark on a phone`(isPhone: Bool) async throws {
        let (bench, paths) = try await Self.prepared(isPhone: isPhone)
        let (width, height) = isPhone ? (390, 844) : (1280, 800)
        for path in paths {
            let page = try await bench.open(path, width: width, height: height, dark: isPhone, isPhone: isPhone)
            try await page.wait(until: "!document.querySelector('main').textContent.includes('…')")
            let findings = try await page.accessibilityFindings()
            #expect(findings.isEmpty, "\(path): \(findings)")
            #expect(try await page.evaluate("document.documentElement.scrollWidth <= innerWidth").isTrue, "\(path)")
        }
    }

    @Test(arguments: [false, true])
    func `axe finds no violations with selected jobs, in the confirmation dialog and on Try it`(dark: Bool)
        async throws
    {
        let bench = try await DashboardBench()
        for path in ["/grid.png", "/nothing.png"] { try await bench.process(path) }
        let page = try await bench.open("/?view=jobs", width: 390, height: 844, dark: dark, isPhone: true)
        try await page.shows("grid.png", in: ".rows")
        try await page.evaluate("document.querySelector('.select.all input').click()")
        #expect(try await page.accessibilityFindings() == [])
        try await page.press(button: "Remove 2")
        try await page.wait(until: "document.querySelector('dialog').open")
        #expect(try await page.accessibilityFindings() == [])
        let trial = try await bench.open("/?view=try", width: 390, height: 844, dark: dark, isPhone: true)
        try await trial.choose(file: SourceTree.sample("clock.mp4"), in: "#try-file")
        // From here on, the page above the button does not change its height.
        try await trial.wait(until: "document.querySelector('.try-frame video')?.readyState > 1")
        try await trial.press(button: "Prepare")
        try await trial.wait(until: "document.querySelector('.try-result canvas[data-drawn]')")
        #expect(try await trial.accessibilityFindings() == [])
    }

    @Test func `axe finds no violations on the sign-in page`() async throws {
        let bench = try await DashboardBench(environment: ["ATTACHPREP_TOKENS": "a-token-for-tests-0123456789"])
        let page = try await bench.open()
        #expect(try await page.accessibilityFindings() == [])
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
