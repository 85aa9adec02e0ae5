import Foundation
import TestSupport
import Testing

/// The dashboard at the root of a service, in a real browser.
@Suite(.timeLimit(.minutes(3))) struct DashboardTests {
    @Test func `After the first start, the page explains how to submit a job`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open()
        try await page.shows("No jobs yet")
        try await page.shows("\(bench.service.url)/v1/jobs", in: "pre")
        try await page.shows("no jobs due", in: ".health")
        #expect(page.issues.isEmpty, "\(page.issues)")
        #expect(page.requests.allSatisfy { $0.hasPrefix(bench.service.url) }, "\(page.requests)")
    }

    @Test func `A new job appears without a reload, with its result, and is counted`() async throws {
        let bench = try await DashboardBench()
        let page = try await bench.open()
        try await page.shows("No jobs yet")
        try await bench.process("/grid.webp")
        try await page.shows("grid.webp", in: ".rows")
        try await page.shows("succeeded", in: ".rows .cell-state")
        try await page.shows("converted: JPEG", in: ".rows .cell-result")
        try await page.wait(until: "document.querySelector('.rows .cell-picture img')?.naturalWidth > 0")
        try await page.shows("1", in: ".tile.good .tile-number")
        #expect(page.issues.isEmpty, "\(page.issues)")
    }

    @Test func `The page of a job draws the notification and lists the steps`() async throws {
        let bench = try await DashboardBench()
        let job = try await bench.process("/clock.mkv", #", "options": {"thumbnailTime": 1}"#)
        let page = try await bench.open("/?job=\(job.id)")
        try await page.wait(until: "document.querySelector('canvas[data-drawn]')")
        try await page.wait(until: "document.querySelector('.notification-media video').readyState > 0")
        for text in ["Silently dropped by iOS", "video/x-matroska is not an attachable type", "Inspect", "SHA-256"] {
            try await page.shows(text)
        }
        #expect(page.issues.isEmpty, "\(page.issues)")
        // The browser's own player loads its icons from data URLs.
        let requests = page.requests.filter { !$0.hasPrefix("data:") }
        #expect(requests.allSatisfy { $0.hasPrefix(bench.service.url) }, "\(requests)")
    }

    @Test func `The page of a failed job shows the error with a remedy, and can retry the job`() async throws {
        let bench = try await DashboardBench()
        let job = try await bench.process("/late.png")
        #expect(job.state == "failed")
        let page = try await bench.open("/?job=\(job.id)")
        try await page.shows("source.not_found", in: ".failure")
        try await page.shows("check the URL", in: ".failure-message")
        bench.origin.serve(
            "/late.png", .body(try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample("grid.png")))))
        try await page.press(button: "Retry")
        try await page.shows("succeeded", in: ".job-head")
        try await page.wait(until: "document.querySelector('.failure') === null")
    }

    @Test func `A queued job can be cancelled`() async throws {
        let bench = try await DashboardBench()
        let id = try await bench.submit("/grid.png", #", "notBefore": "2099-01-01T00:00:00Z""#)
        let page = try await bench.open("/?job=\(id)")
        try await page.press(button: "Cancel")
        try await page.shows("cancelled", in: ".job-head")
        #expect(try await bench.service.client.job(id).state == "cancelled")
    }

    @Test func `All failed jobs are retried after a confirmation`() async throws {
        let bench = try await DashboardBench()
        for name in ["a", "b", "c"] { try await bench.process("/\(name).png") }
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

    @Test func `Failed jobs are removed after a confirmation`() async throws {
        let bench = try await DashboardBench()
        try await bench.process("/nothing.png")
        let page = try await bench.open("/?state=failed")
        try await page.press(button: "Remove all")
        try await page.press(button: "Remove")
        try await page.shows("No matching jobs")
        #expect(try await bench.service.client.jobs().isEmpty)
    }

    @Test func `After a lost event stream, the page reconnects and shows missed changes`() async throws {
        let bench = try await DashboardBench()
        let id = try await bench.submit("/grid.png", #", "notBefore": "2099-01-01T00:00:00Z""#)
        let page = try await bench.open()
        try await page.shows("queued", in: ".rows .cell-state")
        try await page.wait(until: "events.source.readyState === 1")
        // As if a proxy had ended the stream with another response, after which a browser does not reconnect.
        try await page.evaluate("events.end()")
        _ = try await bench.service.client.send("DELETE", "/v1/jobs/\(id)")
        try await page.evaluate("events.begin()")
        try await page.shows("cancelled", in: ".rows .cell-state")
        try await page.shows("live", in: ".live")
    }

    @Test func `A filter can be selected with the keyboard, and keeps the focus`() async throws {
        let bench = try await DashboardBench()
        for path in ["/grid.png", "/nothing.png"] { try await bench.process(path) }
        let page = try await bench.open("/?view=jobs")
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 2")
        try await page.evaluate("document.querySelector('.filters select').focus()")
        try await page.press("f")
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 1")
        #expect(try await page.evaluate("document.activeElement.tagName") == "SELECT")
        #expect(try await page.evaluate("location.search") == "?state=failed")
    }

    @Test func `Search and filters are part of the URL`() async throws {
        let bench = try await DashboardBench()
        for path in ["/grid.png", "/grid.jpg", "/nothing.png", "/truncated.jpg"] { try await bench.process(path) }
        let names = "[...document.querySelectorAll('.rows .cell-name a')].map((link) => link.textContent).sort()"
        let page = try await bench.open("/?state=failed")
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 2")
        try await page.press(button: "media.corrupt")
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 1")
        #expect(try await page.evaluate(names) == ["truncated.jpg"])
        #expect(try await page.evaluate("location.search") == "?state=failed&error=media.corrupt")
        try await page.evaluate("history.back()")
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 2")
        let other = try await bench.open("/?view=jobs")
        try await other.wait(until: "document.querySelectorAll('.rows .row').length === 4")
        try await other.click("[type=search]")
        try await other.type("grid.")
        try await other.wait(until: "document.querySelectorAll('.rows .row').length === 2")
        #expect(try await other.evaluate(names) == ["grid.jpg", "grid.png"])
        #expect(try await other.evaluate("location.search") == "?search=grid.")
    }

    @Test func `The manifest can be downloaded as JSON, and the request copied as curl`() async throws {
        let bench = try await DashboardBench()
        let job = try await bench.process("/grid.png", #", "options": {"crop": "smart"}"#)
        let page = try await bench.open("/?job=\(job.id)")
        try await page.shows("Copy as curl")
        try await page.evaluate(
            "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { copied = text } } })"
        )
        try await page.press(button: "Copy as curl")
        try await page.wait(until: "typeof copied === 'string'")
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
