import Foundation
import TestSupport
import Testing

/// The layout of the dashboard, also on a phone of 390 by 844 points (issue 19, item 12).
@Suite(.timeLimit(.minutes(3))) struct DashboardLayoutTests {
    private static func open(_ bench: DashboardBench, _ path: String = "/") async throws -> BrowserPage {
        try await bench.open(path, width: 390, height: 844, isPhone: true)
    }

    @Test func `Every view has its heading at the top of the screen`() async throws {
        let bench = try await DashboardBench()
        let job = try await bench.process("/clock.mkv")
        try await bench.process("/nothing.png")
        for path in ["/", "/?view=jobs", "/?state=failed", "/?view=try", "/?view=webhooks", "/?job=\(job.id)"] {
            let page = try await Self.open(bench, path)
            try await page.wait(until: "document.querySelector('main h1')")
            let top = try await page.evaluate("document.querySelector('main h1').getBoundingClientRect().top").number
            #expect((0..<200).contains(top ?? .infinity), "\(path): \(String(describing: top))")
        }
    }

    @Test func `A tap on Try it shows its form on the screen`() async throws {
        let bench = try await DashboardBench()
        let page = try await Self.open(bench)
        try await page.shows("No jobs yet")
        try await page.click("nav [href='/?view=try']")
        try await page.shows("Try it", in: "main h1")
        let source = "document.getElementById('try-source').getBoundingClientRect()"
        #expect(try await page.evaluate("\(source).top >= 0 && \(source).bottom < innerHeight").isTrue)
    }

    @Test func `A movie shows a frame before it is played, with and without a crop`() async throws {
        let bench = try await DashboardBench()
        let whole = try await bench.process("/clock.mkv")
        let part = try await bench.process(
            "/clock.mp4", #", "options": {"crop": {"x": 0, "y": 0, "width": 0.5, "height": 1}}"#)
        let poster = try await Self.open(bench, "/?job=\(whole.id)")
        try await poster.wait(until: "document.querySelector('.notification-media video')?.poster")
        let page = try await Self.open(bench, "/?job=\(part.id)")
        let movie = "document.querySelector('.notification-media video')"
        try await page.wait(until: "\(movie)?.readyState >= 2 && \(movie).currentTime > 0 && \(movie).paused")
    }

    @Test func `A webhook can be read without horizontal scrolling`() async throws {
        let bench = try await DashboardBench(
            ["--allow-callback-network", "127.0.0.0/8"],
            environment: ["ATTACHPREP_WEBHOOK_SECRETS": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
        bench.origin.serve("/hook", .status(500))
        try await bench.process("/grid.png", #", "callbackURL": "\#(bench.origin.url("/hook"))""#)
        let page = try await Self.open(bench, "/?view=webhooks")
        try await page.shows("Send again")
        let edge = "Math.max(...[...document.querySelectorAll('main td')].map((c) => c.getBoundingClientRect().right))"
        #expect(try await page.evaluate("\(edge) <= innerWidth && document.documentElement.scrollWidth <= 390").isTrue)
    }
}
