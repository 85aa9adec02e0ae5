import Foundation
import TestSupport
import Testing

/// The content of lists, charts and tables of the dashboard (issue 19, items 13 and 14).
@Suite(.timeLimit(.minutes(3))) struct DashboardContentTests {
    @Test func `The caller's ID is in lists, search results and titles`() async throws {
        let bench = try await DashboardBench()
        let job = try await bench.process("/grid.png", #", "id": "push-4711""#)
        try await bench.process("/grid.jpg")
        for path in ["/", "/?view=jobs", "/?search=push-47"] {
            let page = try await bench.open(path)
            try await page.shows("push-4711", in: ".rows .caller-id")
            if path.contains("search") {
                #expect(try await page.evaluate("document.querySelectorAll('.rows .row').length") == 1)
            }
        }
        let page = try await bench.open("/?job=\(job.id)")
        try await page.shows("push-4711", in: "h1")
        #expect(try await page.evaluate("document.title") == "push-4711 · grid.png – attachprep")
    }

    @Test func `A sealed result has no preview, in lists and on its page`() async throws {
        let bench = try await DashboardBench()
        let job = try await bench.process("/grid.png", #", "seal": true"#)
        let list = try await bench.open("/?view=jobs")
        try await list.shows("sealed image", in: ".rows")
        #expect(try await list.evaluate("document.querySelectorAll('.rows img').length") == 0)
        let page = try await bench.open("/?job=\(job.id)")
        try await page.shows("Sealed: only the phone can show it.")
        #expect(try await page.evaluate("document.querySelectorAll(\"img[src*='/media/']\").length") == 0)
        let seal = try #require(job.result?["sealed"] as? [String: Any])
        let secret = try #require(seal["secret"] as? String)
        #expect(try await !page.evaluate("document.body.textContent.includes('\(secret)')").isTrue)
    }

    @Test func `The row of a failed job has the complete error, and a mark instead of a thumbnail`() async throws {
        let bench = try await DashboardBench()
        try await bench.process("/nothing.png")
        for width in [390, 1280] {
            let page = try await bench.open("/?state=failed", width: width, height: 844, isPhone: width == 390)
            try await page.shows("no such file (status 404); check the URL.", in: ".rows .row-note")
            let note = "document.querySelector('.rows .row-note')"
            #expect(try await page.evaluate("\(note).scrollWidth <= \(note).clientWidth").isTrue)
            #expect(try await page.evaluate("document.querySelector('.cell-picture').textContent") == "!")
        }
    }

    @Test func `The legend of the latency chart has the colors of its two lines`() async throws {
        let bench = try await DashboardBench()
        try await bench.process("/grid.png")
        let page = try await bench.open()
        for (line, name) in [("medianSeconds", "median"), ("p95Seconds", "95th percentile")] {
            try await page.wait(until: "document.querySelector('polyline.\(line)')")
            let colors = try await page.evaluate(
                "[getComputedStyle(document.querySelector('.chart-key.\(line)')).backgroundColor, "
                    + "getComputedStyle(document.querySelector('polyline.\(line)')).stroke]")
            #expect(colors[0] == colors[1])
            let text = try await page.evaluate(
                "(key => key.nextSibling.textContent + key.nextSibling.nextSibling.textContent)"
                    + "(document.querySelector('.chart-key.\(line)'))")
            #expect(text.text?.contains(name) == true, "\(text)")
        }
    }

    @Test func `The duration of a job is from its creation to its end, with the number of attempts`() async throws {
        let bench = try await DashboardBench()
        try await bench.process("/grid.png")
        let page = try await bench.open("/?view=jobs")
        try await page.shows("grid.png", in: ".rows")
        let job = "{ createdAt: '2026-11-23T10:00:00Z', startedAt: '2026-11-23T10:00:20Z', "
        let took = "make('p', {}, durationText(\(job) finishedAt: '2026-11-23T10:00:21Z', attempts: 3 })).textContent"
        #expect(try await page.evaluate(took) == "21 s, 3 attempts")
        let heads = "[...document.querySelectorAll('[role=columnheader]')].slice(-2).map((head) => head.textContent)"
        #expect(try await page.evaluate(heads) == ["Took", "Attempts"])
    }

    @Test(arguments: [
        ("/counter.gif", #", "options": {"animation": "still"}"#, true),
        ("/counter.gif", #", "options": {"animation": "mp4"}"#, true),
        ("/grid.png", #", "attachmentTypes": ["jpg"]"#, true),
        ("/orientation-6.jpg", #", "rendition": "display""#, true), ("/grid.bmp", "", false),
        ("/counter.webp", #", "options": {"animation": "still"}"#, false),
    ])
    func `The preview says that iOS shows a source which is converted only on request`(
        path: String, fields: String, isShown: Bool
    ) async throws {
        let bench = try await DashboardBench()
        let job = try await bench.process(path, fields)
        let manifest = String(
            decoding: try JSONSerialization.data(withJSONObject: job.result ?? [:]), as: UTF8.self)
        let page = try await bench.open()
        #expect(try await page.evaluate("originalVerdict(\(manifest)).isShown") == .bool(isShown), "\(manifest)")
    }

    @Test func `Times by stage add up to the total, or a note explains the difference`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open()
        func text(_ timings: String) async throws -> String {
            try await page.evaluate("timingBars({ \(timings) }).innerText.replace(/\\s+/g, ' ')").text ?? ""
        }
        let whole = try await text("total: 300, queue: 471, inspect: 100, render: 150")
        #expect(whole.contains("Other50 ms") || whole.contains("Other 50 ms"), "\(whole)")
        #expect(whole.contains("300 ms") && whole.contains("Waiting, not in the total"), "\(whole)")
        let overlapping = try await text("total: 600, queue: 0, transfer: 450, identify: 440")
        #expect(overlapping.contains("The stages add up to 890 ms, more than the total"), "\(overlapping)")
    }

    @Test func `The page of a failed job shows its error once, outside the log`() async throws {
        let bench = try await DashboardBench()
        for path in ["/nothing.png", "/truncated.jpg"] {
            let job = try await bench.process(path)
            let page = try await bench.open("/?job=\(job.id)")
            try await page.wait(until: "document.querySelector('.failure-message')")
            let times = try await page.evaluate(
                """
                [...document.querySelectorAll("main .card:not(:has(.log))")].map((card) => card.textContent).join("")
                  .split(document.querySelector(".failure-message").textContent).length - 1
                """)
            #expect(times == 1, "\(path)")
        }
    }
}
