import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct BrowserInputTests {
    @Test(arguments: [false, true])
    func `A click or tap scrolls to an element and reaches it`(isPhone: Bool) async throws {
        let (_, page) = try await opened(
            "<div style='height: 3000px'></div><button onclick='document.title = event.detail + event.pointerType'>Go",
            isPhone: isPhone)
        try await page.click("button")
        try await page.wait(until: "document.title === '\(isPhone ? "1touch" : "1mouse")'")
    }

    @Test func `A click on a covered element names the covering one`() async throws {
        let (_, page) = try await opened("<button>Go</button><div id=veil style='position: fixed; inset: 0'></div>")
        let error = await #expect(throws: BrowserError.self) { try await page.click("button") }
        #expect(error?.description.contains("id=\"veil\"") == true)
    }

    @Test func `A click on a label toggles its check box`() async throws {
        let (_, page) = try await opened("<input type=checkbox id=a><label for=a>Show the crop</label>")
        try await page.click("label")
        #expect(try await page.evaluate("document.querySelector('input').checked") == true)
    }

    @Test(arguments: [false, true])
    func `A drag moves through its steps and ends at its target`(isPhone: Bool) async throws {
        let (_, page) = try await opened(
            """
            <div id=handle style='width: 40px; height: 40px; background: red; touch-action: none'></div>
            <script>
            const handle = document.querySelector('#handle'), seen = []
            handle.onpointerdown = event => { handle.setPointerCapture(event.pointerId); seen.push([event.x, event.y]) }
            handle.onpointermove = event => { if (event.buttons) seen.push([event.x, event.y]) }
            handle.onpointerup = event => document.title = `up ${event.x} ${event.y}`
            </script>
            """, isPhone: isPhone)
        let start = try await page.point(in: "#handle")
        try await page.drag(from: start, to: start.moved(x: 100, y: 50), steps: 5)
        try await page.wait(until: "document.title === 'up \(Int(start.x) + 100) \(Int(start.y) + 50)'")
        let seen = try await page.evaluate("seen").items
        #expect(seen.first == [.number(start.x), .number(start.y)])
        #expect(seen.last == [.number(start.x + 100), .number(start.y + 50)])
        #expect(seen.count >= 5)
    }

    @Test func `Keys move the focus, press buttons and insert text`() async throws {
        let (_, page) = try await opened(
            "<input id=first><input id=second><button onclick='document.title += \"!\"'>Go</button>"
                + "<script>onkeydown = event => document.body.dataset.last = event.key + event.code</script>")
        try await page.press("Tab")
        try await page.type("Größe, 5 Ä")
        try await page.press("Tab")
        try await page.type("cats")
        try await page.press("ArrowLeft")
        try await page.press("Backspace")
        try await page.press("Shift+Tab")
        #expect(try await page.evaluate("document.activeElement.id") == "first")
        #expect(try await page.evaluate("[first.value, second.value]") == ["Größe, 5 Ä", "cas"])
        try await page.press("Control+a")
        try await page.press("Delete")
        #expect(try await page.evaluate("first.value") == "")
        try await page.press("Tab")
        try await page.press("Tab")
        for key in ["Enter", "Space"] { try await page.press(key) }
        #expect(try await page.evaluate("document.title") == "A page!!")
        try await page.press("Escape")
        #expect(try await page.evaluate("document.body.dataset.last") == "EscapeEscape")
    }

    @Test func `An unknown key is rejected by name`() async throws {
        let (_, page) = try await opened("<p>")
        let error = await #expect(throws: BrowserError.self) { try await page.press("Shift+Enterr") }
        #expect(error?.description == "there is no key Shift+Enterr")
    }

    @Test func `A chosen file can be read by the page`() async throws {
        let (_, page) = try await opened("<input type=file onchange='document.title = this.files[0].name'>")
        let folder = try TemporaryFolder()
        try await page.choose(file: folder.write("a cat", to: "cat.txt"), in: "input")
        try await page.wait(until: "document.title === 'cat.txt'")
        #expect(try await page.evaluate("document.querySelector('input').files[0].text()") == "a cat")
        await #expect(throws: BrowserError.self) { try await page.choose(file: folder.path("cat.txt"), in: "#no") }
    }

    @Test func `A dialog is accepted and recorded`() async throws {
        let (_, page) = try await opened("<button onclick='document.title = confirm(\"Cancel the job?\")'>Go</button>")
        try await page.click("button")
        try await page.wait(until: "document.title === 'true'")
        #expect(page.dialogs == ["Cancel the job?"])
    }
}
