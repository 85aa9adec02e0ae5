import Foundation
import TestSupport
import Testing

/// The notification in the preview: collapsed and expanded, original and prepared.
@Suite(.timeLimit(.minutes(3))) struct NotificationPreviewTests {
    @Test func `An unattachable source is drawn without media, the prepared one with it`() async throws {
        let page = try await ReportBench.preview([ReportBench.sample("grid.webp")]).open()
        try await page.wait(until: "document.querySelector('canvas[data-drawn]')")
        let sides = try await page.evaluate(
            "[...document.querySelectorAll('.drawing-side')].map((side) => [side.querySelector('h3').textContent, "
                + "side.querySelectorAll('.notification-media img').length, side.querySelectorAll('canvas').length])")
        #expect(sides == [["Original", 0, 0], ["Prepared", 1, 1]])
        let reason = try await page.evaluate("document.querySelector('.verdict').textContent").text ?? ""
        #expect(reason.contains("image/webp is not an attachable type"))
    }

    @Test func `An unchanged source is drawn with media on both sides`() async throws {
        let page = try await ReportBench.preview([ReportBench.sample("grid.jpg")]).open()
        #expect(try await page.evaluate("document.querySelectorAll('.notification-media img').length") == 2)
    }

    @Test func `Audio has a player and no thumbnail`() async throws {
        let page = try await ReportBench.preview([ReportBench.sample("tone.m4a")]).open()
        #expect(try await page.evaluate("document.querySelectorAll('.notification-media audio').length") == 2)
        #expect(try await page.evaluate("document.querySelectorAll('canvas').length") == 0)
    }

    @Test func `A movie has a player whose poster is the thumbnail`() async throws {
        let page = try await ReportBench.preview([ReportBench.sample("clock.mp4")], ["--thumbnail-time", "1"]).open()
        try await page.wait(until: "document.querySelector('video').readyState > 0")
        #expect(try await page.evaluate("document.querySelector('video').poster.startsWith('data:image/jpeg')").isTrue)
        #expect(try await page.evaluate("document.querySelector('video').duration > 1.5").isTrue)
        #expect(page.issues.isEmpty, "\(page.issues)")
    }

    @Test func `An animation plays and can be paused, and starts paused with reduced motion`() async throws {
        let bench = try await ReportBench.preview([ReportBench.sample("counter.gif")])
        let playing = "!document.querySelector('.notification-media img').hidden"
        let visible =
            "[...document.querySelector('.notification-media').children]"
            + ".filter((child) => child.getClientRects().length).map(({ tagName }) => tagName)"
        let page = try await bench.open()
        #expect(try await page.evaluate(playing).isTrue)
        #expect(try await page.evaluate(visible) == ["IMG", "BUTTON"])
        try await page.click(".motion")
        #expect(try await !page.evaluate(playing).isTrue)
        #expect(try await page.evaluate("document.querySelector('.held').width") == 320)
        #expect(try await page.evaluate(visible) == ["CANVAS", "BUTTON"])
        let reduced = try await bench.open(hasMotion: false)
        #expect(try await !reduced.evaluate(playing).isTrue)
    }

    @Test func `Choosing scale and appearance changes the drawing`() async throws {
        let page = try await ReportBench.preview([ReportBench.sample("grid.jpg")]).open()
        let width = "document.querySelector('.notification').getBoundingClientRect().width"
        #expect(try await page.evaluate(width) == 377)
        let light = try await page.screenshotImage()
        try await page.click("[data-focus='Appearance Dark']")
        #expect(try await page.evaluate("document.querySelector('.phone').dataset.appearance") == "dark")
        #expect(ImageDistance(light, try await page.screenshotImage()).mean > 3)
        try await page.click("[data-focus='Scale 2x']")
        #expect(try await page.evaluate(width) == 754)
        #expect(try await page.evaluate("document.activeElement.textContent") == "2x")
    }

    @Test func `The clip rectangle is drawn over the image on request`() async throws {
        let page = try await ReportBench.preview([ReportBench.sample("grid.jpg")], ["--crop", "0.25,0.5,0.5,0.25"])
            .open()
        #expect(try await page.evaluate("document.querySelectorAll('.part').length") == 0)
        try await page.click("[data-focus='Overlay Clip rect']")
        let frame = try await page.evaluate(
            """
            (() => {
              const frameOf = (name) =>
                document.querySelector(`.drawing-side:last-child ${name}`).getBoundingClientRect()
              const [frame, rect] = [frameOf('.notification-media'), frameOf('.part-rect')]
              return [(rect.left - frame.left) / frame.width, (rect.top - frame.top) / frame.height,
                rect.width / frame.width, rect.height / frame.height].map((share) => Math.round(share * 100) / 100)
            })()
            """)
        #expect(frame == [0.25, 0.5, 0.5, 0.25])
    }

    @Test func `A small crop of a large image has few pixels, as on a phone`() async throws {
        let page = try await ReportBench.preview([ReportBench.sample("grid.jpg")], ["--crop", "0,0,0.25,0.25"]).open()
        try await page.wait(until: "document.querySelector('canvas[data-drawn]')")
        // 800 x 600 fits the box of 35 points as 35 x 26.25; a quarter of each side is 8.75 x 6.6.
        #expect(try await page.evaluate("document.querySelector('canvas').width") == 7)
    }

    @Test(
        arguments: [
            ("deviceSquare(300, 100)", ["x": 100, "y": 0, "side": 100]),
            ("deviceSquare(100, 400)", ["x": 0, "y": 100, "side": 100]),
            ("deviceSquare(50, 50)", ["x": 0, "y": 0, "side": 50]),
        ] as [(String, PageValue)])
    func `A thumbnail is a centered square, moved up in a tall image`(
        call: String, square: PageValue
    ) async throws {
        let page = try await ReportBench.preview([ReportBench.sample("grid.jpg")]).open()
        #expect(try await page.evaluate(call) == square)
    }

    @Test(
        arguments: [
            (1_000_000, "3g", 5.3, "in time"), (2_000_000, "3g", 10.3, "late"), (10_000_000, "3g", 50.3, "lost"),
            (10_000_000, "wifi", 2.04, "in time"),
        ] as [(Int, String, Double, String)])
    func `Fetch times come from the network table and are compared with 8 and 30 seconds`(
        bytes: Int, network: String, seconds: Double, verdict: String
    ) async throws {
        let page = try await ReportBench.preview([ReportBench.sample("grid.jpg")]).open()
        let found = try await page.evaluate(
            """
            (() => {
              const seconds = fetchSeconds(\(bytes), attachprepFacts.networks.find(({ name }) => name === "\(network)"))
              return [seconds, arrivalVerdict(seconds)]
            })()
            """)
        #expect(found == [.number(seconds), .string(verdict)])
    }

    @Test func `The texts of a payload's alert are drawn`() async throws {
        let bench = try ReportBench()
        let server = try LoopbackServer()
        try server.serve(folder: URL(fileURLWithPath: SourceTree.path("samples/media"), isDirectory: true))
        let payload = """
            {"aps": {"alert": {"title": "Otter", "subtitle": "from <b>Ada</b>", "body": "Look!"}, "mutable-content": 1},
            "attachment-url": "\(server.url("/grid.webp"))"}
            """
        let path = try bench.folder.write(payload, to: "push.json")
        try await bench.write(
            ["payload", path, "--base-url", "https://media.example/push", "--allow-private-network"],
            option: "--preview")
        let page = try await bench.open()
        let lines = try await page.evaluate(
            "[...document.querySelectorAll('.drawing-side:last-child .expanded .notification-text > div')]"
                + ".map((line) => line.textContent)")
        #expect(lines == ["Otter", "from <b>Ada</b>", "Look!"])
    }
}
