import AttachPrepModel
import AttachPrepPages
import Foundation
import MediaTypes
import PushPayload
import TestSupport
import Testing

/// The HTML of the page and its content.
@Suite struct ReportPageTests {
    private static func item(_ number: Int, url: String = "https://cdn.example/a.jpg") -> ReportItem {
        var manifest = Manifest(
            id: "n\(number)", requestDigest: "d", outcome: number % 5 == 0 ? .rejected : .passed,
            source: ManifestSource(url: url))
        manifest.source.bytes = number
        manifest.timings.total = Double(number)
        return ReportItem(manifest: manifest)
    }

    @Test func `Markup in a result is escaped in the page`() throws {
        let items = [Self.item(1, url: "https://cdn.example/</script><script>alert(1)</script><!--")]
        let page = try ReportPage(kind: .preview, title: "</title><b>", subtitle: "", items: items).html()
        let text = String(decoding: page, as: UTF8.self)
        #expect(text.components(separatedBy: "</script>").count == 3)
        #expect(!text.contains("<!--") && !text.contains("</title><b>"))
    }

    @Test(.timeLimit(.minutes(2)))
    func `A report with 5,000 results can be filtered, sorted and opened`() async throws {
        let items = (0..<5_000).map { Self.item($0, url: "https://cdn.example/picture-\($0).jpg") }
        let folder = try TemporaryFolder()
        let page = ReportPage(kind: .report, title: "Many", subtitle: "", seconds: 10, items: items)
        let path = try folder.write(page.html(), to: "many.html")
        let browser = try await SharedBrowser.get().page()
        try await browser.open("file://\(path)#q=picture-49&sort=time&down=1")
        let first = try await browser.evaluate("document.querySelector('.rows .cell-name a').textContent")
        #expect(first == "picture-4999.jpg")
        #expect(try await browser.evaluate("drawn.items.at(-1).name") == "picture-49.jpg")
        #expect(
            try await browser.evaluate("document.querySelector('.results [role=status]').textContent") == "111 of 5,000"
        )
        try await browser.evaluate("location.hash = '#item=4321'")
        try await browser.wait(until: "document.getElementById('details-title')?.textContent === 'picture-4321.jpg'")
    }

    @Test func `Rows are added while scrolling`() async throws {
        let items = (0..<1_000).map { Self.item($0) }
        let folder = try TemporaryFolder()
        let page = ReportPage(kind: .report, title: "Many", subtitle: "", items: items)
        let path = try folder.write(page.html(), to: "many.html")
        let browser = try await SharedBrowser.get().page()
        try await browser.open("file://\(path)")
        let rows = "document.querySelectorAll('.rows .row').length"
        #expect(try await browser.evaluate("\(rows) < 1000").isTrue)
        try await browser.wait(until: "(scrollTo(0, document.body.scrollHeight), \(rows) === 1000)")
    }

    @Test func `A report embeds only small attachments, a preview one of the maximum size`() {
        var report = EmbeddingLimits(.report)
        let takesLarge = report.takesAttachment(bytes: Limits.reportAttachmentBytesMax + 1)
        #expect(!takesLarge)
        var count = 0
        while report.takesAttachment(bytes: Limits.reportAttachmentBytesMax) { count += 1 }
        #expect(count == Limits.reportAttachmentsBytesMax / Limits.reportAttachmentBytesMax)
        var preview = EmbeddingLimits(.preview)
        let results = [50_000_000, 1].map { preview.takesAttachment(bytes: $0) }
        #expect(results == [true, false])
    }

    @Test(
        arguments: [
            (#"{"aps": {"alert": "Hi"}}"#, NotificationText(body: "Hi")),
            (#"{"aps": {"alert": {"title": "T", "body": "B"}}}"#, NotificationText(title: "T", body: "B")),
            (
                #"{"aps": {"alert": {"loc-key": "HELLO", "subtitle": "S"}}}"#,
                NotificationText(subtitle: "S", body: "HELLO")
            ),
            (#"{"aps": {}}"#, nil),
        ] as [(String, NotificationText?)])
    func `The notification text is that of the payload's alert`(payload: String, text: NotificationText?) throws {
        #expect(NotificationText(payload: try PayloadDocument(Array(payload.utf8)).value) == text)
    }

    @Test(arguments: [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser",
        "srcdoc",
    ])
    func `Scripts do not create markup from text`(api: String) throws {
        let script = try #require(Dashboard.files.first { $0.name == "dashboard.js" })
        let report = try ReportPage(kind: .report, title: "", subtitle: "", items: []).html()
        for bytes in [script.bytes, report] { #expect(!String(decoding: bytes, as: UTF8.self).contains(api)) }
    }

    @Test func `The dashboard's page refers to all its assets and to no other host`() {
        let page = String(decoding: Dashboard.page.bytes, as: UTF8.self)
        for file in Dashboard.files { #expect(page.contains("\"assets/\(file.name)\"")) }
        #expect(!page.contains("://"))
    }
}
