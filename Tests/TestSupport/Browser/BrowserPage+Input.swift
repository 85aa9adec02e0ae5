import Foundation

extension BrowserPage {
    /// Scrolls an element into view and clicks its middle; on a phone, taps it.
    ///
    /// - Throws: `BrowserError` when there is no such element, or another one covers it.
    public func click(_ selector: String) async throws {
        let point = try await point(in: selector)
        try await evaluate(Self.coverCheck(of: selector, point))
        if try await evaluate("navigator.maxTouchPoints > 0").isTrue {
            try await touch("touchStart", [point])
            try await touch("touchEnd", [])
        } else {
            try await mouse("mouseMoved", point)
            try await mouse("mousePressed", point, isDown: true)
            try await mouse("mouseReleased", point)
        }
    }

    /// Moves from one point to another with the button, or a finger, held down.
    ///
    /// - Parameter steps: the number of move events.
    public func drag(from start: PagePoint, to end: PagePoint, steps: Int = 10) async throws {
        let path = (1...max(steps, 1)).map { start.interpolated(Double($0) / Double(max(steps, 1)), to: end) }
        if try await evaluate("navigator.maxTouchPoints > 0").isTrue {
            try await touch("touchStart", [start])
            for point in path { try await touch("touchMove", [point]) }
            try await touch("touchEnd", [])
        } else {
            try await mouse("mouseMoved", start)
            try await mouse("mousePressed", start, isDown: true)
            for point in path { try await mouse("mouseMoved", point, isDown: true) }
            try await mouse("mouseReleased", end)
        }
    }

    /// Moves the pointer to a point, with no button held down.
    public func hover(over point: PagePoint) async throws {
        try await mouse("mouseMoved", point)
    }

    /// The position of a point of an element in the window, after scrolling it into view; (0, 0) is its top left.
    public func point(in selector: String, atUnitX x: Double = 0.5, y: Double = 0.5) async throws -> PagePoint {
        let element = "document.querySelector(\(try Self.literal(selector)))"
        try await wait(until: "\(element)?.getClientRects().length")
        let position = try await evaluate(
            """
            (element => {
                element.scrollIntoView({block: "center", inline: "center", behavior: "instant"})
                const box = element.getBoundingClientRect()
                return [box.left + box.width * \(x), box.top + box.height * \(y)]
            })(\(element))
            """)
        guard let left = position[0].number, let top = position[1].number else {
            throw BrowserError(description: "\(selector) has no position: \(position)")
        }
        return PagePoint(x: left, y: top)
    }

    /// Presses a key by its name, or one letter, with `Shift+`, `Control+`, `Alt+` or `Meta+` before it.
    public func press(_ name: String) async throws {
        let key = try PageKey(name)
        _ = try await call("Input.dispatchKeyEvent", key.event(isDown: true))
        _ = try await call("Input.dispatchKeyEvent", key.event(isDown: false))
    }

    /// Types a text into the focused element, key by key.
    public func type(_ text: String) async throws {
        for character in text { try await press(character == "\n" ? "Enter" : String(character)) }
    }

    /// Chooses a file in an `<input type=file>`, as a user does in the system's dialog.
    public func choose(file path: String, in selector: String) async throws {
        let found = try await call(
            "Runtime.evaluate", ["expression": .string("document.querySelector(\(try Self.literal(selector)))")])
        guard found["result"]["objectId"].text != nil else {
            throw BrowserError(description: "the page has no \(selector)")
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
        let touches = points.map { PageValue.object(["x": .number($0.x), "y": .number($0.y)]) }
        _ = try await call("Input.dispatchTouchEvent", ["type": .string(event), "touchPoints": .array(touches)])
    }

    /// A script that throws in the page when a click there would hit another element.
    private static func coverCheck(of selector: String, _ point: PagePoint) throws -> String {
        """
        (element => {
            const hit = document.elementFromPoint(\(point.x), \(point.y))
            if (element.contains(hit) || hit?.contains(element) || element.control?.contains(hit)) return
            throw new Error(`a click hits ${hit?.outerHTML.slice(0, 200)}`)
        })(document.querySelector(\(try literal(selector))))
        """
    }

    /// A text as a JavaScript literal.
    private static func literal(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }
}

/// A point in a page's window, in CSS pixels from its top left corner.
public struct PagePoint: Sendable, Hashable {
    public let x: Double
    public let y: Double

    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// The point moved by an offset.
    public func moved(x: Double = 0, y: Double = 0) -> PagePoint { PagePoint(x: self.x + x, y: self.y + y) }

    /// A point on the straight line to another one: 0 is this point, 1 is `end`.
    func interpolated(_ fraction: Double, to end: PagePoint) -> PagePoint {
        moved(x: (end.x - x) * fraction, y: (end.y - y) * fraction)
    }
}
