import Foundation
import TestSupport
import Testing

/// The page that a service shows at its root, in a real browser.
@Suite(.timeLimit(.minutes(3))) struct DashboardTests {
    @Test func `Right after the start it says how a job is sent`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open()
        try await page.shows("No jobs yet")
        try await page.shows("\(bench.service.url)/v1/jobs", in: "pre")
        try await page.shows("no jobs due", in: ".health")
        #expect(page.complaints.isEmpty, "\(page.complaints)")
        #expect(page.requests.allSatisfy { $0.hasPrefix(bench.service.url) }, "\(page.requests)")
    }

    @Test func `A job appears by itself, is counted, and shows what came of it`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open()
        try await page.shows("No jobs yet")
        try await bench.work("/grid.webp")
        try await page.shows("grid.webp", in: ".rows")
        try await page.shows("succeeded", in: ".rows .cell-state")
        try await page.shows("converted: JPEG", in: ".rows .cell-result")
        try await page.waits(until: "document.querySelector('.rows .cell-picture img')?.naturalWidth > 0")
        try await page.shows("1", in: ".tile.good .tile-number")
        #expect(page.complaints.isEmpty, "\(page.complaints)")
    }

    @Test func `A job's page draws it, and says how it was worked on`() async throws {
        let bench = try await DashboardBench()
        let job = try await bench.work("/clock.mkv", #", "options": {"thumbnailTime": 1}"#)
        let page = try await bench.open("/?job=\(job.id)")
        try await page.waits(until: "document.querySelector('canvas[data-drawn]')")
        try await page.waits(until: "document.querySelector('.notification-media video').readyState > 0")
        for text in ["Silently dropped by iOS", "video/x-matroska is not an attachable type", "Inspect", "SHA-256"] {
            try await page.shows(text)
        }
        #expect(page.complaints.isEmpty, "\(page.complaints)")
        // The browser's own player has its symbols as data.
        let asked = page.requests.filter { !$0.hasPrefix("data:") }
        #expect(asked.allSatisfy { $0.hasPrefix(bench.service.url) }, "\(asked)")
    }

    @Test func `A failed job says what helps, and Retry has it done again`() async throws {
        let bench = try await DashboardBench()
        let job = try await bench.work("/late.png")
        #expect(job.state == "failed")
        let page = try await bench.open("/?job=\(job.id)")
        try await page.shows("source.not_found", in: ".failure")
        try await page.shows("check the URL", in: ".failure-message")
        bench.origin.serve(
            "/late.png", .body(try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample("grid.png")))))
        try await page.press(button: "Retry")
        try await page.shows("succeeded", in: ".job-head")
        try await page.waits(until: "document.querySelector('.failure') === null")
    }

    @Test func `A job that waits is called off`() async throws {
        let bench = try await DashboardBench()
        let id = try await bench.submit("/grid.png", #", "notBefore": "2099-01-01T00:00:00Z""#)
        let page = try await bench.open("/?job=\(id)")
        try await page.press(button: "Cancel")
        try await page.shows("cancelled", in: ".job-head")
        #expect(try await bench.service.client.job(id).state == "cancelled")
    }

    @Test func `All failed jobs are asked for again at once, after a question`() async throws {
        let bench = try await DashboardBench()
        for name in ["a", "b", "c"] { try await bench.work("/\(name).png") }
        let png = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample("grid.png")))
        for name in ["a", "b", "c"] { bench.origin.serve("/\(name).png", .body(png)) }
        let page = try await bench.open("/?state=failed")
        try await page.press(button: "Retry all")
        try await page.shows("Retry all 3 failed jobs?", in: "dialog")
        #expect(try await bench.service.client.jobs(state: "failed").count == 3)
        try await page.press(button: "Retry")
        try await page.shows("3 jobs queued again", in: "#toasts")
        try await bench.service.client.allEnded(seconds: 60)
        #expect(try await bench.service.client.jobs(state: "succeeded").count == 3)
    }

    @Test func `Failed jobs are removed for good, after a question`() async throws {
        let bench = try await DashboardBench()
        try await bench.work("/nothing.png")
        let page = try await bench.open("/?state=failed")
        try await page.press(button: "Remove all")
        try await page.press(button: "Remove")
        try await page.shows("No matching jobs")
        #expect(try await bench.service.client.jobs().isEmpty)
    }

    @Test func `A service that was away is listened to again, and what happened meanwhile is shown`() async throws {
        let bench = try await DashboardBench()
        let id = try await bench.submit("/grid.png", #", "notBefore": "2099-01-01T00:00:00Z""#)
        let page = try await bench.open()
        try await page.shows("queued", in: ".rows .cell-state")
        try await page.waits(until: "events.source.readyState === 1")
        // As a proxy ends it: an answer that is no stream, after which a browser asks no more.
        try await page.evaluate("events.end()")
        _ = try await bench.service.client.send("DELETE", "/v1/jobs/\(id)")
        try await page.evaluate("events.begin()")
        try await page.shows("cancelled", in: ".rows .cell-state")
        try await page.shows("live", in: ".live")
    }

    @Test func `A filter is chosen with the keyboard, and keeps the focus`() async throws {
        let bench = try await DashboardBench()
        for path in ["/grid.png", "/nothing.png"] { try await bench.work(path) }
        let page = try await bench.open("/?view=jobs")
        try await page.waits(until: "document.querySelectorAll('.rows .row').length === 2")
        try await page.evaluate("document.querySelector('.filters select').focus()")
        try await page.press("f")
        try await page.waits(until: "document.querySelectorAll('.rows .row').length === 1")
        #expect(try await page.evaluate("document.activeElement.tagName") == "SELECT")
        #expect(try await page.evaluate("location.search") == "?state=failed")
    }

    @Test func `Search and filters stand in the address, and lead there again`() async throws {
        let bench = try await DashboardBench()
        for path in ["/grid.png", "/grid.jpg", "/nothing.png", "/truncated.jpg"] { try await bench.work(path) }
        let names = "[...document.querySelectorAll('.rows .cell-name a')].map((link) => link.textContent).sort()"
        let page = try await bench.open("/?state=failed")
        try await page.waits(until: "document.querySelectorAll('.rows .row').length === 2")
        try await page.press(button: "media.corrupt")
        try await page.waits(until: "document.querySelectorAll('.rows .row').length === 1")
        #expect(try await page.evaluate(names) == ["truncated.jpg"])
        #expect(try await page.evaluate("location.search") == "?state=failed&error=media.corrupt")
        try await page.evaluate("history.back()")
        try await page.waits(until: "document.querySelectorAll('.rows .row').length === 2")
        let other = try await bench.open("/?view=jobs")
        try await other.waits(until: "document.querySelectorAll('.rows .row').length === 4")
        try await other.click("[type=search]")
        try await other.type("grid.")
        try await other.waits(until: "document.querySelectorAll('.rows .row').length === 2")
        #expect(try await other.evaluate(names) == ["grid.jpg", "grid.png"])
        #expect(try await other.evaluate("location.search") == "?search=grid.")
    }

    @Test func `What came of it is downloaded as JSON, and the request is copied as curl`() async throws {
        let bench = try await DashboardBench()
        let job = try await bench.work("/grid.png", #", "options": {"crop": "smart"}"#)
        let page = try await bench.open("/?job=\(job.id)")
        try await page.shows("Copy as curl")
        try await page.evaluate(
            "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { copied = text } } })"
        )
        try await page.press(button: "Copy as curl")
        try await page.waits(until: "typeof copied === 'string'")
        let command = try #require(try await page.evaluate("copied").text)
        #expect(command.contains("curl '\(bench.service.url)/v1/jobs'"))
        #expect(
            command.contains(#""source":"\#(bench.origin.url("/grid.png"))""#) && command.contains(#""crop":"smart""#))
        let again = command.split(separator: "-d '")[1].dropLast()
        #expect(try await bench.service.client.submit(String(again)).isEmpty == false)
        try await page.evaluate("URL.createObjectURL = (blob) => { saved = blob.text(); return '#' }")
        try await page.press(button: "Download manifest")
        #expect(try await page.evaluate("saved.then((text) => JSON.parse(text).outcome)") == "passed")
    }
}
