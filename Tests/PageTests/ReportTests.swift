import TestSupport
import Testing

/// What `attachprep batch --report` writes, as somebody sees it.
@Suite(.timeLimit(.minutes(3))) struct ReportTests {
    private static let lines =
        ["grid.webp", "grid.jpg", "counter.gif", "clock.mkv", "tone.flac", "truncated.jpg", "arrow.svg"]
        .map(ReportBench.sample)

    @Test func `It asks nobody for anything, and nothing in it is refused`() async throws {
        let page = try await ReportBench.report(Self.lines).open(at: "#item=0")
        try await page.waits(until: "document.querySelector('dialog canvas[data-drawn]')")
        #expect(page.complaints.isEmpty, "\(page.complaints)")
        #expect(
            page.requests.allSatisfy { address in
                ["file:", "data:", "blob:"].contains { address.hasPrefix($0) }
            })
    }

    @Test func `Its totals are those of the results`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        let tiles = try await page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('.tiles > div')].map((tile) => "
                + "[tile.querySelector('dt').textContent, tile.querySelector('dd').textContent]))")
        #expect(tiles["Sources"] == "7")
        #expect(tiles["Ready to attach"] == "5")
        #expect(tiles["Rejected"] == "2")
        #expect(try await page.evaluate("document.querySelectorAll('.rows .row').length") == 7)
    }

    @Test func `Each failure stands there with what helps`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        let text = try await page.evaluate("document.querySelector('.failures').textContent").text ?? ""
        #expect(text.contains("media.corrupt") && text.contains("check the file at its source"))
        #expect(text.contains("media.unsupported") && text.contains("send a picture, sound or movie"))
    }

    @Test func `Filters leave what they name, and the address can be sent to somebody`() async throws {
        let bench = try await ReportBench.report(Self.lines)
        let page = try await bench.open()
        try await page.evaluate(
            "(() => { const filter = document.getElementById('filter-outcome'); filter.value = 'converted'; "
                + "filter.dispatchEvent(new Event('change')) })()")
        let names = "[...document.querySelectorAll('.rows .cell-name a')].map((link) => link.textContent)"
        #expect(try await page.evaluate(names) == ["grid.webp", "clock.mkv", "tone.flac"])
        let place = try #require(try await page.evaluate("location.hash").text)
        let other = try await bench.open(at: place)
        #expect(try await other.evaluate(names) == ["grid.webp", "clock.mkv", "tone.flac"])
    }

    @Test func `A search finds a part of an address or of an error`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        try await page.click("#filter-q")
        try await page.type("corrupt")
        try await page.waits(until: "document.querySelectorAll('.rows .row').length === 1")
        #expect(try await page.evaluate("document.querySelector('.rows .cell-name a').textContent") == "truncated.jpg")
    }

    @Test func `A column's head sorts by it, and says so to a screen reader`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        try await page.click(".cell-bytesIn button")
        let sorted = try await page.evaluate(
            "chosen().map(({ manifest }) => manifest.source.bytes)")
        let bytes = sorted.items.map { $0.number ?? -1 }
        #expect(bytes == bytes.sorted(by: >))
        #expect(try await page.evaluate("document.querySelector('.cell-bytesIn').ariaSort") == "descending")
    }

    @Test func `A result opens with the keyboard alone, and Escape leads back`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        try await page.evaluate("document.querySelector('.rows .cell-name a').focus()")
        try await page.press("Enter")
        try await page.waits(until: "document.querySelector('dialog').open")
        #expect(try await page.evaluate("document.getElementById('details-title').textContent") == "grid.webp")
        try await page.press("Escape")
        try await page.waits(until: "!document.querySelector('dialog').open && location.hash === ''")
    }

    @Test func `A name that holds markup stands there as text`() async throws {
        let name = "/nowhere/<img src=x onerror=alert(1)></script><script>alert(2)</script>.jpg"
        let page = try await ReportBench.report([name, Self.lines[0]]).open(at: "#item=0")
        try await page.waits(until: "document.querySelector('dialog').open")
        #expect(page.dialogs.isEmpty)
        #expect(try await page.evaluate("document.querySelectorAll('img[src=x]').length") == 0)
        #expect(try await page.evaluate("items[0].manifest.source.url") == .string(name))
        #expect(
            try await page.evaluate("document.querySelector('dialog').textContent.includes('onerror=alert(1)')").isTrue)
    }

    @Test(arguments: [(1280, false), (390, true)])
    func `Nothing is wider than the window, light or dark, at a desk or on a phone`(width: Int, isPhone: Bool)
        async throws
    {
        let bench = try await ReportBench.report(Self.lines)
        let fits = "document.documentElement.scrollWidth <= innerWidth"
        var pictures: [TestPicture] = []
        for dark in [false, true] {
            let page = try await bench.open(width: width, height: 800, dark: dark, isPhone: isPhone)
            #expect(try await page.evaluate(fits).isTrue)
            pictures.append(try await page.picture())
            try await page.evaluate("location.hash = 'item=0'")
            try await page.waits(until: "document.querySelector('dialog').open")
            #expect(try await page.evaluate(fits).isTrue)
        }
        #expect(PictureDistance(pictures[0], pictures[1]).mean > 20)
    }

    @Test func `Whatever can be pressed or filled in has a name`() async throws {
        let page = try await ReportBench.report(Self.lines).open()
        let roles: Set = ["button", "link", "textbox", "searchbox", "combobox", "checkbox", "dialog", "table"]
        let nodes = try await page.accessibilityTree().filter { roles.contains($0.role) }
        #expect(nodes.count > 15)
        #expect(nodes.filter(\.name.isEmpty).isEmpty)
    }
}
