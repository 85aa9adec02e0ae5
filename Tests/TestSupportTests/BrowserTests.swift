import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct BrowserTests {
    @Test func `Values of a page are returned, and promises awaited`() async throws {
        let page = try await Browser.start().page()
        #expect(
            try await page.evaluate("[1.5, 'two', true, null, {a: [undefined]}]") == [
                1.5, "two", true, nil, ["a": [nil]],
            ])
        #expect(try await page.evaluate("Promise.resolve(6 * 7)") == 42)
        #expect(try await page.evaluate("0 / 0") == "NaN")
    }

    @Test func `The message of a script's exception is the error's text`() async throws {
        let page = try await Browser.start().page()
        for script in ["throw new Error('no cat here')", "Promise.reject(new TypeError('no cat here'))"] {
            let error = await #expect(throws: BrowserError.self) { try await page.evaluate(script) }
            #expect(error?.description.contains("no cat here") == true)
        }
        #expect(page.issues.isEmpty)
    }

    @Test func `A page that cannot be opened is an error with the reason`() async throws {
        let page = try await Browser.start().page()
        let error = await #expect(throws: BrowserError.self) { try await page.open("http://cdn.example/") }
        #expect(error?.description.contains("ERR_NAME_NOT_RESOLVED") == true)
    }

    @Test func `Waiting continues across navigations`() async throws {
        let (server, page) = try await opened(
            "<script>setTimeout(() => location = '/next', 50)</script>",
            with: ["/next": .body(Data("<p>arrived".utf8), type: "text/html")])
        try await page.wait(until: "document.body.innerText === 'arrived'")
        #expect(server.requests(to: "/next").count == 1)
    }

    @Test func `A condition that never becomes true is reported with the page's text`() async throws {
        let (_, page) = try await opened("<p>still loading")
        let error = await #expect(throws: BrowserError.self) {
            try await page.wait(until: "document.querySelector('#cat').width", seconds: 0.2)
        }
        #expect(error?.description.contains("never came true; the page: TypeError") == true)
        #expect(error?.description.contains("still loading") == true)
    }

    @Test func `Pages share no storage`() async throws {
        let (server, page) = try await opened("<p>")
        try await page.evaluate("document.cookie = localStorage.cat = 'cat=1'")
        let other = try await page.browser.page()
        try await other.open(server.url("/"))
        #expect(try await page.evaluate("document.cookie + localStorage.cat") == "cat=1cat=1")
        #expect(try await other.evaluate("document.cookie + localStorage.cat") == "undefined")
    }

    @Test func `A phone has a touch screen and the width of its viewport`() async throws {
        let (_, page) = try await opened(
            "<meta name=viewport content='width=device-width'><p>", width: 390, height: 844, scale: 3, isPhone: true)
        #expect(try await page.evaluate("[innerWidth, devicePixelRatio, navigator.maxTouchPoints]") == [390, 3, 5])
        #expect(try await page.evaluate("matchMedia('(pointer: coarse)').matches") == true)
    }

    @Test func `Closing a browser ends all its processes`() async throws {
        let browser = try await Browser.start()
        let page = try await browser.page()
        try await page.evaluate("1")
        let first = ProcessStatus(processID: browser.processID)
        let all = [first] + first.children + first.children.flatMap(\.children)
        #expect(all.count > 3)
        browser.close()
        try await waitUntil("the end of Chromium's processes") { !all.contains { $0.isRunning } }
        await #expect(throws: BrowserError.self) { try await page.evaluate("1") }
    }

    @Test func `The profile is removed with the last page`() async throws {
        var page: BrowserPage? = try await Browser.start().page()
        let folder = try #require(page?.browser.folder.path)
        #expect(FileManager.default.fileExists(atPath: folder))
        page = nil
        #expect(!FileManager.default.fileExists(atPath: folder))
    }
}

/// Opens a page with this body, served on loopback together with files by path.
func opened(
    _ body: String, with files: [String: LoopbackResponse] = [:], headers: [String: String] = [:], width: Int = 1280,
    height: Int = 800, scale: Double = 1,
    dark: Bool = false, isPhone: Bool = false
) async throws -> (LoopbackServer, BrowserPage) {
    let server = try LoopbackServer()
    let document = "<!doctype html><html lang=en><title>A page</title><link rel=icon href=data:,><body>\(body)"
    server.serve("/", .body(Data(document.utf8), type: "text/html; charset=utf-8", headers: headers))
    for (path, response) in files { server.serve(path, response) }
    let page = try await Browser.start().page(
        width: width, height: height, scale: scale, dark: dark, isPhone: isPhone)
    try await page.open(server.url("/"))
    return (server, page)
}
