import Foundation
import TestSupport
import Testing

/// axe-core on every page of the dashboard (issue 19, 14).
@Suite(.timeLimit(.minutes(8))) struct DashboardAuditTests {
    /// A service with jobs of each kind and end, and the addresses of its pages.
    private static func prepared() async throws -> (DashboardBench, [String]) {
        let bench = try await DashboardBench(
            ["--allow-callback-network", "127.0.0.0/8"],
            environment: ["ATTACHPREP_WEBHOOK_SECRETS": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
        bench.origin.serve("/hook", .status(500))
        var places = [
            "/", "/?view=jobs", "/?state=failed", "/?state=cancelled", "/?view=try", "/?view=webhooks",
            "/?job=01a2003d-a3b2-700b-ba31-e2f7b414981c",
        ]
        for (path, fields) in [
            ("/clock.mkv", #", "id": "push-1", "options": {"crop": {"x": 0, "y": 0, "width": 0.5, "height": 1}}"#),
            ("/counter.gif", ""), ("/tone.flac", ""), ("/grid.webp", #", "id": "push-2""#),
            ("/truncated.jpg", #", "callbackURL": "\#(bench.origin.url("/hook"))""#), ("/nothing.png", ""),
        ] {
            places.append("/?job=\(try await bench.work(path, fields).id)")
        }
        places.append("/?job=\(try await bench.submit("/grid.png", #", "notBefore": "2099-01-01T00:00:00Z""#))")
        try await askUntil("the webhook was tried") { bench.origin.requests.contains { $0.path == "/hook" } }
        return (bench, places)
    }

    @Test(arguments: [(1280, 800, false), (390, 844, true)])
    func `axe finds nothing on any page, light or dark, at a desk or on a phone`(
        width: Int, height: Int, isPhone: Bool
    ) async throws {
        let (bench, places) = try await Self.prepared()
        for dark in [false, true] {
            for place in places {
                let page = try await bench.open(place, width: width, height: height, dark: dark, isPhone: isPhone)
                try await page.waits(until: "!document.querySelector('main').textContent.includes('…')")
                let findings = try await page.accessibilityFindings()
                #expect(findings.isEmpty, "\(place), dark: \(dark): \(findings)")
                #expect(
                    try await page.evaluate("document.documentElement.scrollWidth <= innerWidth").isTrue, "\(place)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `axe finds nothing on selected jobs, on the question about them, and on what was tried`(dark: Bool)
        async throws
    {
        let bench = try await DashboardBench()
        for path in ["/grid.png", "/nothing.png"] { try await bench.work(path) }
        let page = try await bench.open("/?view=jobs", width: 390, height: 844, dark: dark, isPhone: true)
        try await page.shows("grid.png", in: ".rows")
        try await page.evaluate("document.querySelector('.select.all input').click()")
        #expect(try await page.accessibilityFindings() == [])
        try await page.press(button: "Remove 2")
        try await page.waits(until: "document.querySelector('dialog').open")
        #expect(try await page.accessibilityFindings() == [])
        let trial = try await bench.open("/?view=try", width: 390, height: 844, dark: dark, isPhone: true)
        try await trial.choose(file: SourceTree.sample("clock.mp4"), in: "#try-file")
        // What is above the button stays as high as it is.
        try await trial.waits(until: "document.querySelector('.try-frame video')?.readyState > 1")
        try await trial.press(button: "Prepare")
        try await trial.waits(until: "document.querySelector('.try-result canvas[data-drawn]')")
        #expect(try await trial.accessibilityFindings() == [])
    }

    @Test func `axe finds nothing on the page to sign in`() async throws {
        let bench = try await DashboardBench(environment: ["ATTACHPREP_TOKENS": "a-token-of-more-than-sixteen-signs"])
        let page = try await bench.open()
        #expect(try await page.accessibilityFindings() == [])
    }
}
