import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct BrowserAppearanceTests {
    private static let body = """
        <style>
        body { margin: 0; background: #fff } div { height: 2000px; border-top: 100px solid #d62728 }
        @media (prefers-color-scheme: dark) { body { background: #111 } }
        </style><div></div>
        """

    @Test func `A screenshot has the window's size in screen pixels`() async throws {
        let (_, page) = try await opened(Self.body, width: 400, height: 300, scale: 2)
        let image = try await page.screenshotImage()
        #expect((image.width, image.height) == (800, 600))
    }

    @Test func `A full-page screenshot is as tall as the page`() async throws {
        let (_, page) = try await opened(Self.body, width: 400, height: 300)
        let image = try await page.screenshotImage(fullPage: true)
        #expect((image.width, image.height) == (400, 2100))
        #expect(image.color(atUnitX: 0.5, y: 0.01).distance(to: TestColor(hex: 0xd62728)) < 1)
        #expect(image.color(atUnitX: 0.5, y: 0.5).distance(to: TestColor(hex: 0xffffff)) < 1)
    }

    @Test func `A dark page differs from a light one, and repeated screenshots do not`() async throws {
        let (_, page) = try await opened(Self.body, width: 400, height: 300)
        let light = try await page.screenshotImage()
        #expect(try await ImageDistance(light, page.screenshotImage()).blockMax < 1)
        try await page.emulate(width: 400, height: 300, dark: true)
        #expect(try await ImageDistance(light, page.screenshotImage()).mean > 30)
        #expect(try await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == true)
    }

    @Test func `Reduced motion is visible to the page`() async throws {
        let page = try await Browser.start().page(hasMotion: false)
        #expect(try await page.evaluate("matchMedia('(prefers-reduced-motion: reduce)').matches") == true)
    }

    @Test func `Two pages of one browser are drawn at the same time`() async throws {
        let (server, page) = try await opened(Self.body, width: 400, height: 300)
        let other = try await page.browser.page(width: 400, height: 300, dark: true)
        try await other.open(server.url("/"))
        async let light = page.screenshotImage()
        async let dark = other.screenshotImage()
        #expect(try await ImageDistance(light, dark).mean > 30)
    }

    @Test func `Accessible elements are listed in reading order with states`() async throws {
        let (_, page) = try await opened(
            """
            <h1>Notifications</h1><button aria-expanded=false aria-describedby=d>Jobs</button><p id=d>All of them</p>
            <input type=checkbox checked aria-label='Show the crop'><input aria-label=Title value=Cat disabled>
            <div aria-hidden=true>decoration</div>
            """)
        let tree = try await page.accessibilityTree()
        let named = tree.filter { ["heading", "button", "checkbox", "textbox"].contains($0.role) }
        #expect(named.map(\.name) == ["Notifications", "Jobs", "Show the crop", "Title"])
        #expect(named[0].states["level"] == 1)
        #expect(named[1].description == "All of them")
        #expect(named[1].states["expanded"] == false && named[1].isTrue("focusable"))
        #expect(named[2].isTrue("checked"))
        #expect(named[3].value == "Cat" && named[3].isTrue("disabled"))
        #expect(!tree.contains { $0.name.contains("decoration") })
    }
}
