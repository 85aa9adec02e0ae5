import Foundation

extension BrowserPage {
    /// Emulates a screen and the user's preferences.
    ///
    /// - Parameters:
    ///   - width: of the window, in CSS pixels; so is the height.
    ///   - scale: screen pixels per CSS pixel.
    ///   - dark: whether the user prefers dark pages.
    ///   - isPhone: a touch screen, and a viewport that the page's `meta` may set.
    ///   - hasMotion: false when the user prefers reduced motion.
    public func emulate(
        width: Int = 1280, height: Int = 800, scale: Double = 1, dark: Bool = false, isPhone: Bool = false,
        hasMotion: Bool = true
    ) async throws {
        _ = try await call(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": .number(scale),
                "mobile": .bool(isPhone),
            ])
        _ = try await call("Emulation.setTouchEmulationEnabled", ["enabled": .bool(isPhone), "maxTouchPoints": 5])
        _ = try await call(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": dark ? "dark" : "light"],
                    ["name": "prefers-reduced-motion", "value": hasMotion ? "no-preference" : "reduce"],
                ]
            ])
    }

    /// A PNG of the window, or of the whole page; taken when fonts are loaded and the last change is drawn.
    public func screenshot(fullPage: Bool = false) async throws -> [UInt8] {
        try await evaluate(
            """
            document.fonts.ready.then(() => new Promise(resolve =>
                requestAnimationFrame(() => requestAnimationFrame(() => resolve(null)))))
            """)
        var parameters: [String: PageValue] = ["format": "png", "captureBeyondViewport": .bool(fullPage)]
        if fullPage {
            let size = try await call("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = ["x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1]
        }
        let response = try await call("Page.captureScreenshot", parameters)
        guard let bytes = response["data"].text.flatMap({ Data(base64Encoded: $0) }) else {
            throw BrowserError(description: "Chromium made no screenshot")
        }
        return Array(bytes)
    }

    /// A screenshot to compare with another one by `ImageDistance`.
    public func screenshotImage(fullPage: Bool = false) async throws -> TestImage {
        let bytes = try await screenshot(fullPage: fullPage)
        return try await onOwnThread {
            let folder = try TemporaryFolder()
            return try TestImage(decoding: folder.write(bytes, to: "page.png"))
        }
    }
}
