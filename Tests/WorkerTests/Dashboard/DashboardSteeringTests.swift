import Foundation
import TestSupport
import Testing

/// Pauses, batches, actions, exact filters, the history and resubmission on the dashboard.
@Suite(.timeLimit(.minutes(5))) struct DashboardSteeringTests {
    @Test func `Jobs of a host are paused and resumed on the overview, and both are in the log of actions`()
        async throws
    {
        let bench = try await DashboardBench()
        let page = try await bench.open()
        try await page.press(button: "Pause jobs")
        try await page.evaluate(
            """
            const select = document.querySelector("dialog select")
            select.value = "host"
            select.dispatchEvent(new Event("change"))
            document.querySelector("dialog input").value = "127.0.0.1"
            """)
        try await page.press(button: "Pause")
        try await page.shows("Host 127.0.0.1", in: ".pauses")
        let id = try await bench.submit("/grid.png")
        #expect(try await page.accessibilityFindings() == [])
        #expect(try await bench.service.client.job(id).state == "queued")
        try await page.press(button: "Resume Host 127.0.0.1")
        #expect(try await bench.service.client.ended(id).state == "succeeded")
        try await page.shows("Nothing is paused.", in: ".pauses")
        try await page.press(button: "Actions")
        try await page.shows("resumed")
        try await page.shows("host 127.0.0.1", in: "tbody")
        #expect(try await page.accessibilityFindings() == [])
        #expect(page.issues.isEmpty, "\(page.issues)")
    }

    @Test func `A batch shows its progress, and jobs are found by tag`() async throws {
        let bench = try await DashboardBench()
        let lines = ["/grid.png", "/nothing.png"].map {
            #"{"source": "\#(bench.origin.url($0))", "tags": ["campaign=spring"]}"#
        }
        let response = try await bench.service.client.send(
            "POST", "/v1/jobs", body: lines.joined(separator: "\n"), headers: ["Content-Type": "application/x-ndjson"])
        let batch = try #require(response.json()["batch"] as? String, "\(response.text)")
        try await bench.service.client.allEnded(seconds: 60)
        try await bench.process("/grid.jpg")
        let page = try await bench.open("/?batch=\(batch)")
        try await page.shows("2 of 2 jobs ended, 100 %: done", in: ".batch")
        try await page.shows("1 failed", in: ".batch")
        #expect(try await page.evaluate("String(document.querySelectorAll('.rows .row').length)") == "2")
        #expect(try await page.accessibilityFindings() == [])
        let tagged = try await bench.open("/?view=jobs")
        try await tagged.evaluate(
            """
            document.querySelector("select[aria-label='Exact filter']").value = "tag"
            document.querySelector("input[aria-label='Exact value']").value = "campaign=spring"
            """)
        try await tagged.press(button: "Find")
        try await tagged.wait(until: "location.search === '?tag=campaign%3Dspring'")
        try await tagged.wait(until: "document.querySelectorAll('.rows .row').length === 2")
    }

    @Test func `The jobs of a campaign show its progress, which links to those of a state`() async throws {
        let bench = try await DashboardBench()
        for path in ["/grid.png", "/nothing.png"] { try await bench.process(path, #", "tags": ["campaign=spring"]"#) }
        let page = try await bench.open("/?tag=campaign%3Dspring")
        try await page.shows("Campaign spring", in: ".batch")
        try await page.shows("2 of 2 jobs ended, 100 %: done", in: ".batch")
        #expect(try await page.accessibilityFindings() == [])
        try await page.press(button: "1 failed")
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 1")
        let list = try await bench.open("/?view=campaigns")
        try await list.shows("No campaigns.")
    }

    @Test func `The name of the environment is in the header and before the title`() async throws {
        let bench = try await DashboardBench([
            "--environment-name", "<b>staging</b>", "--environment-color", "purple",
        ])
        let page = try await bench.open("/?view=jobs")
        try await page.shows("<b>staging</b>", in: ".page-head .environment.purple")
        #expect(try await page.evaluate("document.title") == "<b>staging</b>: Jobs – attachprep")
        #expect(try await page.accessibilityFindings() == [])
    }

    @Test func `A queued job is snoozed, and paused jobs are counted above the list`() async throws {
        let bench = try await DashboardBench()
        _ = try await bench.service.client.send("POST", "/v1/jobs/pause", body: #"{"all": true}"#)
        let id = try await bench.submit("/grid.png")
        let page = try await bench.open("/?job=\(id)")
        try await page.press(button: "Snooze")
        #expect(try await page.accessibilityFindings() == [])
        try await page.evaluate("document.querySelector('dialog .button.primary').click()")
        try await page.shows("Starts")
        let job = try await bench.service.client.job(id).json
        let (due, created) = (try #require(job["dueAt"] as? String), try #require(job["createdAt"] as? String))
        #expect(due > created && (job["request"] as? [String: Any])?["notBefore"] is String)
        _ = try await bench.submit("/grid.jpg")
        let jobs = try await bench.open("/?view=jobs")
        try await jobs.shows("1 job would be due.", in: ".paused-jobs")
        #expect(try await jobs.accessibilityFindings() == [])
    }

    @Test func `The history has a bar and a text for the hour in which jobs ended`() async throws {
        let bench = try await DashboardBench()
        try await bench.process("/grid.png")
        let page = try await bench.open()
        try await page.wait(until: "document.querySelector('.history rect.good')")
        try await page.evaluate("document.querySelector('.history svg').focus()")
        try await page.press("ArrowRight")
        try await page.shows("1 succeeded, 0 failed", in: ".history-detail")
        #expect(try await page.accessibilityFindings() == [])
    }

    @Test func `A job is resubmitted edited`() async throws {
        let bench = try await DashboardBench()
        let failed = try await bench.process("/nothing.png")
        let page = try await bench.open("/?job=\(failed.id)")
        try await page.press(button: "Edit and resubmit")
        try await page.evaluate(
            """
            const text = document.querySelector("dialog textarea")
            text.value = text.value.replace("nothing.png", "grid.png")
            """)
        #expect(try await page.accessibilityFindings() == [])
        try await page.press(button: "Submit")
        try await page.shows("succeeded", in: ".job-head")
        #expect(try await bench.service.client.jobs().count == 2)
        #expect(try await bench.service.client.job(failed.id).state == "failed")
    }

    @Test func `A token without the role operate is not offered to pause`() async throws {
        let tokens = try TemporaryFolder()
        let path = try tokens.write("a-reading-token-0123456789 name=grafana roles=read\n", to: "tokens")
        let bench = try await DashboardBench(["--token-file", path])
        let page = try await bench.open()
        try await page.click("#token")
        try await page.type("a-reading-token-0123456789")
        try await page.press(button: "Sign in")
        try await page.shows("Nothing is paused.", in: ".pauses")
        let buttons = try await page.evaluate("String(document.querySelectorAll('.pauses button').length)")
        #expect(buttons == "0")
    }
}
