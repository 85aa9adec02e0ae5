import Foundation
import TestSupport
import Testing

/// Workers on the overview, and the filters by kind and time.
@Suite(.timeLimit(.minutes(2))) struct DashboardWorkerTests {
    @Test func `The overview shows each worker's load and version, with a link to its running jobs`() async throws {
        let bench = try await DashboardBench(["--concurrency", "4"])
        bench.origin.serve("/never.jpg", LoopbackResponse([.hang]))
        let id = try await bench.submit("/never.jpg")
        let page = try await bench.open()
        try await page.shows("1 of 4", in: ".workers")
        try await page.shows("1 worker, 1 job running, up to 4 at a time", in: ".workers")
        let version = try await bench.service.client.get("/v1/overview").json()["version"] as? String
        try await page.shows(try #require(version), in: ".workers")
        try await page.press(button: "1 of 4")
        try await page.wait(until: "location.search.includes('worker=')")
        try await page.shows("never.jpg", in: ".rows")
        let count = try await page.evaluate("String(document.querySelectorAll('.rows .row').length)")
        #expect(count == "1", "\(id)")
        try await page.press(button: "serve ✕ remove this filter")
        try await page.wait(until: "!location.search.includes('worker=')")
    }

    @Test func `Jobs are filtered by kind and time, also in the URL`() async throws {
        let bench = try await DashboardBench()
        try await bench.process("/grid.jpg")
        try await bench.process("/tone.wav")
        let page = try await bench.open("/?view=jobs&kind=audio")
        try await page.shows("tone.wav", in: ".rows")
        let rows = { try await page.evaluate("String(document.querySelectorAll('.rows .row').length)") }
        #expect(try await rows() == "1")
        try await page.evaluate(
            """
            for (const [label, value] of [["Kind", ""], ["Created", "1h"]]) {
              const select = document.querySelector(`select[aria-label=${label}]`)
              select.value = value
              select.dispatchEvent(new Event("change"))
            }
            """)
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 2")
        #expect(try await page.evaluate("location.search") == "?since=1h")
    }
}
