import Foundation
import TestSupport
import Testing

/// A real service, an origin whose responses can change, and the dashboard in a real browser.
final class DashboardBench: Sendable {
    let bench: ServiceBench
    let service: RunningService
    /// The server of the sources of jobs.
    let origin: LoopbackServer

    init(_ options: [String] = [], environment: [String: String?] = [:]) async throws {
        bench = try ServiceBench()
        origin = try LoopbackServer()
        try origin.serve(folder: URL(fileURLWithPath: SourceTree.path("samples/media"), isDirectory: true))
        service = try await bench.start(options, environment: environment)
    }

    deinit {
        service.running.send(SIGKILL)
    }

    func open(
        _ path: String = "/", width: Int = 1280, height: Int = 900, dark: Bool = false, isPhone: Bool = false
    ) async throws -> BrowserPage {
        let page = try await SharedBrowser.get().page(width: width, height: height, dark: dark, isPhone: isPhone)
        try await page.open(service.url + path)
        // Waits for the complete page, so that elements do not move when they are clicked.
        try await page.wait(until: "document.querySelector('.sign-in') || overview.data")
        return page
    }

    /// Submits a job for a file of the origin, and returns its ID.
    @discardableResult
    func submit(_ path: String, _ fields: String = "") async throws -> String {
        try await service.client.submit(#"{"source": "\#(origin.url(path))"\#(fields)}"#)
    }

    /// Submits a job for a file of the origin, and waits until it has ended.
    @discardableResult
    func process(_ path: String, _ fields: String = "") async throws -> ServiceJob {
        try await service.client.ended(try await submit(path, fields))
    }
}

extension BrowserPage {
    /// Waits until an element contains the text.
    func shows(_ text: String, in selector: String = "main") async throws {
        let wanted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        try await wait(until: "document.querySelector(\"\(selector)\")?.textContent.includes(\(wanted))")
    }

    /// Presses the button or link with this text; retries when the page has just replaced the element.
    func press(button name: String) async throws {
        for _ in 0..<3 where (try? await pressOnce(button: name)) != nil { return }
        try await pressOnce(button: name)
    }

    private func pressOnce(button name: String) async throws {
        let wanted = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
        try await wait(
            until: """
                (() => {
                  for (const marked of document.querySelectorAll("[data-pressed]")) delete marked.dataset.pressed
                  const named = [...document.querySelectorAll("button, a, summary")]
                    .findLast((element) => element.textContent.trim() === \(wanted))
                  if (named) named.dataset.pressed = "yes"
                  return Boolean(named)
                })()
                """)
        try await click("[data-pressed]")
    }
}
