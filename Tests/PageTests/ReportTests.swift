import TestSupport
import Testing

/// The page that `attachprep batch --report` writes, in a browser.
@Suite(.timeLimit(.minutes(3))) struct ReportTests {
    private static let lines =
        ["grid.webp", "grid.jpg", "counter.gif", "clock.mkv", "tone.flac", "truncated.jpg", "tune.mid"]
        .map(ReportBench.sample)

    @Test func `A report loads without network requests and browser issues`() async throws {
        let page = try await ReportBench.report(Self.lines).open(at: "#item=0")
        try await page.wait(until: "document.querySelector('dialog canvas[data-drawn]')")
        #expect(page.issues.isEmpty, "\(page.issues)")
        #expect(
            page.requests.allSatisfy { address in
                ["file:", "data:", "blob:"].contains { address.hasPrefix($0) }
            })
    }

    @Test func `The totals match the results`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        let tiles = try await page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('.tiles > div')].map((tile) => "
                + "[tile.querySelector('dt').textContent, tile.querySelector('dd').textContent]))")
        #expect(tiles["Sources"] == "7")
        #expect(tiles["Ready to attach"] == "5")
        #expect(tiles["Rejected"] == "2")
        #expect(try await page.evaluate("document.querySelectorAll('.rows .row').length") == 7)
    }

    @Test func `Each error is listed with a remedy`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        let text = try await page.evaluate("document.querySelector('.failures').textContent").text ?? ""
        #expect(text.contains("media.corrupt") && text.contains("check the file at its source"))
        #expect(text.contains("media.unsupported") && text.contains("send an image, audio or movie file"))
    }

    @Test func `Filters select results and are part of the URL`() async throws {
        let bench = try await ReportBench.report(Self.lines)
        let page = try await bench.open()
        try await page.evaluate(
            "(() => { const filter = document.getElementById('filter-outcome'); filter.value = 'converted'; "
                + "filter.dispatchEvent(new Event('change')) })()")
        let names = "[...document.querySelectorAll('.rows .cell-name a')].map((link) => link.textContent)"
        #expect(try await page.evaluate(names) == ["grid.webp", "clock.mkv", "tone.flac"])
        let fragment = try #require(try await page.evaluate("location.hash").text)
        let other = try await bench.open(at: fragment)
        #expect(try await other.evaluate(names) == ["grid.webp", "clock.mkv", "tone.flac"])
    }

    @Test func `A search matches parts of a URL or an error`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        try await page.click("#filter-q")
        try await page.type("corrupt")
        try await page.wait(until: "document.querySelectorAll('.rows .row').length === 1")
        #expect(try await page.evaluate("document.querySelector('.rows .cell-name a').textContent") == "truncated.jpg")
    }

    @Test func `A column header sorts by its column and announces it to screen readers`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        try await page.click(".cell-bytesIn button")
        let sorted = try await page.evaluate(
            "chosen().map(({ manifest }) => manifest.source.bytes)")
        let bytes = sorted.items.map { $0.number ?? -1 }
        #expect(bytes == bytes.sorted(by: >))
        #expect(try await page.evaluate("document.querySelector('.cell-bytesIn').ariaSort") == "descending")
    }

    @Test func `A result can be opened with the keyboard and closed with Escape`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        try await page.evaluate("document.querySelector('.rows .cell-name a').focus()")
        try await page.press("Enter")
        try await page.wait(until: "document.querySelector('dialog').open")
        #expect(try await page.evaluate("document.getElementById('details-title').textContent") == "grid.webp")
        try await page.press("Escape")
        try await page.wait(until: "!document.querySelector('dialog').open && location.hash === ''")
    }

    @Test func `A file name with markup is shown as text`() async throws {
        let name = "/nowhere/<img src=x onerror=alert(1)></script><script>alert(2)</script>.jpg"
        let page = try await ReportBench.report([name, Self.lines[0]]).open(at: "#item=0")
        try await page.wait(until: "document.querySelector('dialog').open")
        #expect(page.dialogs.isEmpty)
        #expect(try await page.evaluate("document.querySelectorAll('img[src=x]').length") == 0)
        #expect(try await page.evaluate("items[0].manifest.source.url") == .string(name))
        #expect(
            try await page.evaluate("document.querySelector('dialog').textContent.includes('onerror=alert(1)')").isTrue)
    }

    @Test(arguments: [(1280, false), (390, true)])
    func `The page fits the window, light or dark, on a desktop or a phone`(width: Int, isPhone: Bool)
        async throws
    {
        let bench = try await ReportBench.report(Self.lines)
        let fits = "document.documentElement.scrollWidth <= innerWidth"
        var screenshots: [TestImage] = []
        for dark in [false, true] {
            let page = try await bench.open(width: width, height: 800, dark: dark, isPhone: isPhone)
            #expect(try await page.evaluate(fits).isTrue)
            screenshots.append(try await page.screenshotImage())
            try await page.evaluate("location.hash = 'item=0'")
            try await page.wait(until: "document.querySelector('dialog').open")
            #expect(try await page.evaluate(fits).isTrue)
        }
        #expect(ImageDistance(screenshots[0], screenshots[1]).mean > 20)
    }

    @Test func `Every control has an accessible name`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        let roles: Set = ["button", "link", "textbox", "searchbox", "combobox", "checkbox", "dialog", "table"]
        let nodes = try await page.accessibilityTree().filter { roles.contains($0.role) }
        #expect(nodes.count > 15)
        #expect(nodes.filter(\.name.isEmpty).isEmpty)
    }
}

/// axe-core on the pages that the command writes (issue 19, item 14).
@Suite(.timeLimit(.minutes(5))) struct AccessibilityTests {
    private static let sources =
        ["grid.webp", "counter.gif", "clock.mkv", "tone.flac", "truncated.jpg", "tune.mid"].map(ReportBench.sample)
    private static let screens = [(1280, 800, false), (390, 844, true)]

    private func expectNoFindings(_ bench: ReportBench, at fragment: String = "", ready: String) async throws {
        for (width, height, isPhone) in Self.screens {
            for dark in [false, true] {
                let page = try await bench.open(
                    at: fragment, width: width, height: height, dark: dark, isPhone: isPhone)
                try await page.wait(until: ready)
                let findings = try await page.accessibilityFindings()
                #expect(findings.isEmpty, "\(width), dark: \(dark): \(findings)")
            }
        }
    }

    @Test func `axe finds no violations in a preview`() async throws {
        try await expectNoFindings(
            try await ReportBench.preview(Self.sources), ready: "document.querySelector('canvas[data-drawn]')")
    }

    @Test func `axe finds no violations in a report and an opened result`() async throws {
        let bench = try await ReportBench.report(Self.sources)
        try await expectNoFindings(bench, ready: "document.querySelector('.rows .row')")
        try await expectNoFindings(bench, at: "#item=2", ready: "document.querySelector('dialog').open")
    }
}
