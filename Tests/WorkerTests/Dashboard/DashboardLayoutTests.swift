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

    @Test func `No two cells of a row overlap`() async throws {
        let bench = try await DashboardBench()
        let id = String(repeating: "long-id-", count: 16)
        try await bench.process("/\(String(repeating: "long-name-", count: 12)).png", #", "id": "\#(id)""#)
        let overlaps = """
            [...document.querySelectorAll('.row')].flatMap((row) => {
              const boxes = [...row.children].filter((cell) => !cell.querySelector(".unseen, .select")).map((cell) => {
                const range = document.createRange()
                range.selectNodeContents(cell)
                return [cell, range.getBoundingClientRect()]
              }).filter(([cell, box]) => box.width > 2 && !cell.querySelector('.row-title'))
              return boxes.flatMap(([, one], index) => boxes.slice(index + 1).filter(([, other]) =>
                one.right > other.left + 1 && other.right > one.left + 1 && one.bottom > other.top + 1
                  && other.bottom > one.top + 1).map(([cell]) => cell.className))
            })
            """
        for width in [800, 1024, 1280] {
            let page = try await bench.open("/?view=jobs", width: width)
            try await page.shows("long-name", in: ".rows")
            #expect(try await page.evaluate(overlaps) == [], "\(width)")
            let right = "document.querySelector('.rows .cell-name').getBoundingClientRect().right"
            let next = "document.querySelector('.rows .cell-state').getBoundingClientRect().left"
            #expect(try await page.evaluate("\(right) <= \(next)").isTrue)
        }
    }
}
