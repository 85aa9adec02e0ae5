import Foundation

extension BrowserPage {
    /// Scrolls an element into view and clicks its middle; on a phone, taps it.
    ///
    /// - Throws: `BrowserFailure` when there is no such element, or another one lies over it.
    public func click(_ selector: String) async throws {
        let point = try await point(in: selector)
        try await evaluate(Self.objection(to: selector, point))
        if try await evaluate("navigator.maxTouchPoints > 0").isTrue {
            try await touch("touchStart", [point])
            try await touch("touchEnd", [])
        } else {
            try await mouse("mouseMoved", point)
            try await mouse("mousePressed", point, isDown: true)
            try await mouse("mouseReleased", point)
        }
    }

    /// Goes from one point to another with the button, or a finger, held down.
    ///
    /// - Parameter steps: how many moves there are on the way.
    public func drag(from start: PagePoint, to end: PagePoint, steps: Int = 10) async throws {
        let way = (1...max(steps, 1)).map { start.going(Double($0) / Double(max(steps, 1)), to: end) }
        if try await evaluate("navigator.maxTouchPoints > 0").isTrue {
            try await touch("touchStart", [start])
            for point in way { try await touch("touchMove", [point]) }
            try await touch("touchEnd", [])
        } else {
            try await mouse("mouseMoved", start)
            try await mouse("mousePressed", start, isDown: true)
            for point in way { try await mouse("mouseMoved", point, isDown: true) }
            try await mouse("mouseReleased", end)
        }
    }

    /// Lays the pointer on a point, with no button held down.
    public func hover(over point: PagePoint) async throws {
        try await mouse("mouseMoved", point)
    }

    /// Where a point of an element stands in the window, after it was scrolled into view; (0, 0) is its top left.
    public func point(in selector: String, atUnitX x: Double = 0.5, y: Double = 0.5) async throws -> PagePoint {
        let element = "document.querySelector(\(try Self.literal(selector)))"
        try await waits(until: "\(element)?.getClientRects().length")
        let place = try await evaluate(
            """
            (element => {
                element.scrollIntoView({block: "center", inline: "center", behavior: "instant"})
                const box = element.getBoundingClientRect()
                return [box.left + box.width * \(x), box.top + box.height * \(y)]
            })(\(element))
            """)
        guard let left = place[0].number, let top = place[1].number else {
            throw BrowserFailure(description: "\(selector) has no place: \(place)")
        }
        return PagePoint(x: left, y: top)
    }

    /// Presses a key by its name, or one letter, with `Shift+`, `Control+`, `Alt+` or `Meta+` before it.
    public func press(_ name: String) async throws {
        let key = try PageKey(name)
        _ = try await call("Input.dispatchKeyEvent", key.event(isDown: true))
        _ = try await call("Input.dispatchKeyEvent", key.event(isDown: false))
    }

    /// Types a text into what has the focus, key by key.
    public func type(_ text: String) async throws {
        for character in text { try await press(character == "\n" ? "Enter" : String(character)) }
    }

    /// Chooses a file in an `<input type=file>`, as a reader does in the system's dialog.
    public func choose(file path: String, in selector: String) async throws {
        let found = try await call(
            "Runtime.evaluate", ["expression": .string("document.querySelector(\(try Self.literal(selector)))")])
        guard found["result"]["objectId"].text != nil else {
            throw BrowserFailure(description: "the page has no \(selector)")
        }
        _ = try await call(
            "DOM.setFileInputFiles", ["files": [.string(path)], "objectId": found["result"]["objectId"]])
    }

    private func mouse(_ event: String, _ point: PagePoint, isDown: Bool = false) async throws {
        let moves = event == "mouseMoved"
        _ = try await call(
            "Input.dispatchMouseEvent",
            [
                "type": .string(event), "x": .number(point.x), "y": .number(point.y),
                "button": moves && !isDown ? "none" : "left", "buttons": isDown ? 1 : 0,
                "clickCount": moves ? 0 : 1,
            ])
    }

    private func touch(_ event: String, _ points: [PagePoint]) async throws {
        let places = points.map { PageValue.object(["x": .number($0.x), "y": .number($0.y)]) }
        _ = try await call("Input.dispatchTouchEvent", ["type": .string(event), "touchPoints": .array(places)])
    }

    /// Throws in the page when a click there would hit something else.
    private static func objection(to selector: String, _ point: PagePoint) throws -> String {
        """
        (element => {
            const hit = document.elementFromPoint(\(point.x), \(point.y))
            if (element.contains(hit) || hit?.contains(element) || element.control?.contains(hit)) return
            throw new Error(`a click hits ${hit?.outerHTML.slice(0, 200)}`)
        })(document.querySelector(\(try literal(selector))))
        """
    }

    /// A text as JavaScript spells it.
    private static func literal(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }
}
