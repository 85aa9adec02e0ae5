import Foundation
import TestSupport
import Testing

/// The Try it form: a URL or a file, a crop dragged over the image, and a thumbnail time of a movie.
@Suite(.timeLimit(.minutes(3))) struct DashboardTryItTests {
    @Test func `A URL is prepared, and the notification is drawn with the given title`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open("/?view=try")
        try await page.click("#try-source")
        try await page.type(bench.origin.url("/grid.webp"))
        try await page.evaluate("document.querySelector('[name=title]').value = 'Otters'")
        try await page.press(button: "Prepare")
        try await page.shows("Result", in: ".try-result h2")
        try await page.shows("Otters", in: ".notification")
        try await page.wait(until: "document.querySelector('canvas[data-drawn]')")
        #expect(page.issues.isEmpty, "\(page.issues)")
    }

    @Test func `A rectangle dragged over the image of a chosen file is the crop of the thumbnail`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open("/?view=try", height: 1400)
        try await page.choose(file: SourceTree.sample("grid.jpg"), in: "#try-file")
        try await page.wait(until: "document.querySelector('.try-frame img')?.naturalWidth > 0")
        let (from, to) = (
            try await page.point(in: ".crop-layer", atUnitX: 0.25, y: 0.25),
            try await page.point(in: ".crop-layer", atUnitX: 0.75, y: 0.75)
        )
        try await page.drag(from: from, to: to)
        let numbers = "[...document.querySelectorAll('.try-numbers [type=number]')].map(({ value }) => Number(value))"
        for (found, wanted) in zip(try await page.evaluate(numbers).items, [0.25, 0.25, 0.5, 0.5]) {
            #expect(abs((found.number ?? -1) - wanted) < 0.02)
        }
        try await page.press(button: "Prepare")
        try await page.shows("Result", in: ".try-result h2")
        let job = try #require(try await bench.service.client.jobs().first)
        let rect = try #require(
            (job.result?["options"] as? [String: Any])?["thumbnailClippingRect"] as? [String: Double])
        #expect(abs((rect["X"] ?? -1) - 0.25) < 0.02 && abs((rect["Width"] ?? -1) - 0.5) < 0.02, "\(rect)")
    }

    @Test func `The rectangle is moved and resized with arrow keys, and removed with Delete`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open("/?view=try", height: 1400)
        try await page.choose(file: SourceTree.sample("grid.jpg"), in: "#try-file")
        try await page.wait(until: "document.querySelector('.try-frame img')?.naturalWidth > 0")
        try await page.drag(
            from: try await page.point(in: ".crop-layer", atUnitX: 0.2, y: 0.2),
            to: try await page.point(in: ".crop-layer", atUnitX: 0.6, y: 0.6))
        try await page.evaluate("document.querySelector('.crop-box').focus()")
        let before = try await page.evaluate("trial.crop")
        for key in ["ArrowRight", "ArrowRight", "ArrowDown", "Shift+ArrowLeft"] { try await page.press(key) }
        let after = try await page.evaluate("trial.crop")
        for (name, change) in [("x", 0.02), ("y", 0.01), ("width", -0.01), ("height", 0)] {
            #expect(abs((after[name].number ?? 9) - (before[name].number ?? -9) - change) < 0.001, "\(name)")
        }
        try await page.press("Delete")
        #expect(try await page.evaluate("trial.crop") == .null)
    }

    @Test func `The time selected with the slider is the time of the thumbnail`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open("/?view=try", height: 1400)
        try await page.choose(file: SourceTree.sample("clock.mp4"), in: "#try-file")
        try await page.wait(until: "document.querySelector('.try-frame video')?.readyState > 1")
        try await page.wait(until: "Number(document.querySelector('.time-slider').max) > 1.5")
        try await page.evaluate("document.querySelector('.time-slider').focus()")
        for _ in 0..<50 { try await page.press("ArrowRight") }
        try await page.wait(until: "document.querySelector('.try-frame video').currentTime > 0.45")
        try await page.press(button: "Prepare")
        try await page.shows("Result", in: ".try-result h2")
        let job = try #require(try await bench.service.client.jobs().first)
        let time = (job.result?["thumbnail"] as? [String: Any])?["time"] as? Double
        #expect(abs((time ?? 0) - 0.5) < 0.05, "\(String(describing: time))")
    }

    @Test func `A missing or invalid source is reported with a remedy`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open("/?view=try")
        try await page.press(button: "Prepare")
        try await page.shows("Enter a URL or choose a file")
        try await page.click("#try-source")
        try await page.type("ftp://example.com/a.png")
        try await page.press(button: "Prepare")
        try await page.wait(until: "document.querySelector('.try-result').textContent.includes('source.')")
    }
}
