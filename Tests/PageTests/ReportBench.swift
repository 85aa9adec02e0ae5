import Foundation
import TestSupport
import Testing

/// Pages written by the real command for the samples, opened in a real browser.
final class ReportBench: Sendable {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Writes a page by running `attachprep` with these arguments and an option for the path of the page.
    @discardableResult
    func write(_ arguments: [String], option: String, name: String = "page.html", input: String = "") async throws
        -> CommandResult
    {
        let command = RunCommand(
            try BuiltBinary.attachprep(), arguments + [option, folder.path(name), "--output", folder.path("prepared")],
            environment: ["ATTACHPREP_MEDIA": nil, "TMPDIR": folder.path], input: Array(input.utf8), timeoutSeconds: 120
        )
        return try await command.run()
    }

    /// Writes the report of a batch with these lines.
    static func report(_ lines: [String]) async throws -> ReportBench {
        let bench = try ReportBench()
        let result = try await bench.write(
            ["batch", "-", "--format", "json"], option: "--report",
            input: lines.joined(separator: "\n"))
        #expect(result.errorText.contains("Page written to"), "\(result.errorText)")
        return bench
    }

    /// Writes the preview of these sources.
    static func preview(_ sources: [String], _ options: [String] = []) async throws -> ReportBench {
        let bench = try ReportBench()
        try await bench.write(["prepare"] + sources + options, option: "--preview")
        return bench
    }

    /// Opens a written page.
    func open(
        _ name: String = "page.html", at fragment: String = "", width: Int = 1280, height: Int = 900,
        dark: Bool = false,
        isPhone: Bool = false, hasMotion: Bool = true
    ) async throws -> BrowserPage {
        let page = try await SharedBrowser.get().page(
            width: width, height: height, dark: dark, isPhone: isPhone, hasMotion: hasMotion)
        try await page.open("file://\(folder.path(name))\(fragment)")
        try await page.wait(until: "document.querySelector('main')?.childElementCount > 0")
        return page
    }

    static func sample(_ name: String) -> String { SourceTree.sample(name) }
}
