import Foundation
import TestSupport
import Testing

/// Actions on jobs selected in the table (issue 19, item 14).
@Suite(.timeLimit(.minutes(3))) struct DashboardSelectionTests {
    @Test func `Selected jobs are retried, and no others`() async throws {
        let bench = try await DashboardBench()
        var ids: [String] = []
        for name in ["a", "b", "c"] { ids.append(try await bench.process("/\(name).png").id) }
        let png = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample("grid.png")))
        for name in ["a", "b", "c"] { bench.origin.serve("/\(name).png", .body(png)) }
        let page = try await bench.open("/?state=failed")
        for id in ids.prefix(2) { try await page.click("[data-job='\(id)']") }
        try await page.shows("2 jobs selected", in: ".bulk [role=status]")
        #expect(try await page.evaluate("document.querySelector('.select.all input').indeterminate").isTrue)
        try await page.press(button: "Retry 2")
        try await page.shows("2 jobs queued again", in: "#toasts")
        for id in ids.prefix(2) { #expect(try await bench.service.client.ended(id).state == "succeeded") }
        #expect(try await bench.service.client.job(ids[2]).state == "failed")
        try await page.shows("No jobs selected", in: ".bulk [role=status]")
    }

    @Test func `All jobs of a page are removed after a confirmation that does not preselect removal`()
        async throws
    {
        let bench = try await DashboardBench()
        for path in ["/nothing.png", "/grid.png"] { try await bench.process(path) }
        let page = try await bench.open("/?view=jobs")
        try await page.click(".select.all input")
        try await page.press(button: "Remove 2")
        try await page.shows("Remove 2 jobs?", in: "dialog")
        #expect(try await page.evaluate("document.querySelector('dialog .primary')") == .null)
        #expect(try await page.evaluate("document.activeElement.textContent") == "Go back")
        #expect(try await bench.service.client.jobs().count == 2)
        try await page.press(button: "Remove")
        try await page.shows("No jobs yet")
        #expect(try await bench.service.client.jobs().isEmpty)
    }

    @Test func `An action applies to those selected jobs that allow it`() async throws {
        let bench = try await DashboardBench()
        let done = try await bench.process("/grid.png")
        let waiting = try await bench.submit("/grid.jpg", #", "notBefore": "2099-01-01T00:00:00Z""#)
        let page = try await bench.open("/?view=jobs")
        try await page.click(".select.all input")
        let buttons = "[...document.querySelectorAll('.bulk button')].map((b) => b.textContent + ' ' + b.disabled)"
        #expect(
            try await page.evaluate(buttons)
                == ["Retry true", "Cancel 1 false", "Remove 1 false", "To lane high 1 false"])
        try await page.press(button: "Cancel 1")
        try await page.press(button: "Cancel")
        try await page.shows("1 job cancelled", in: "#toasts")
        #expect(try await bench.service.client.job(waiting).state == "cancelled")
        #expect(try await bench.service.client.job(done.id).state == "succeeded")
    }

    @Test func `Selection works by keyboard and screen reader, and is kept when a new job arrives`()
        async throws
    {
        let bench = try await DashboardBench()
        let job = try await bench.process("/grid.png", #", "id": "push-4711""#)
        let page = try await bench.open("/?view=jobs")
        try await page.shows("grid.png", in: ".rows")
        try await page.evaluate("document.querySelector('.select.all input').focus()")
        try await page.press("Tab")
        try await page.press("Space")
        try await page.shows("1 job selected", in: ".bulk [role=status]")
        let nodes = try await page.accessibilityTree()
        let box = try #require(nodes.first { $0.role == "checkbox" && $0.name == "Select grid.png, push-4711" })
        #expect(box.isTrue("checked"))
        #expect(nodes.contains { $0.role == "button" && $0.name == "Remove 1 of 1 job selected" })
        try await bench.process("/grid.jpg")
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 2")
        #expect(try await page.evaluate("document.activeElement.dataset.job") == .string(job.id))
        #expect(try await page.evaluate("document.activeElement.checked").isTrue)
        try await page.shows("1 job selected", in: ".bulk [role=status]")
    }

    @Test func `A job hidden by a filter is no longer selected`() async throws {
        let bench = try await DashboardBench()
        for path in ["/nothing.png", "/grid.png"] { try await bench.process(path) }
        let page = try await bench.open("/?view=jobs")
        try await page.click(".select.all input")
        try await page.shows("2 jobs selected", in: ".bulk [role=status]")
        try await page.evaluate("filterJobs({ state: 'failed' })")
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 1")
        try await page.shows("No jobs selected", in: ".bulk [role=status]")
    }
}
