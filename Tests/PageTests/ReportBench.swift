import Foundation
import TestSupport
import Testing

/// Pages that the real command wrote about the samples, opened in a real browser.
final class ReportBench: Sendable {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Writes a page by running `attachprep` with these words, and the option and the path of the page.
    @discardableResult
    func write(_ words: [String], option: String, name: String = "page.html", input: String = "") async throws
        -> CommandResult
    {
        let command = RunCommand(
            try BuiltBinary.attachprep(), words + [option, folder.path(name), "--output", folder.path("prepared")],
            environment: ["ATTACHPREP_MEDIA": nil, "TMPDIR": folder.path], input: Array(input.utf8), timeoutSeconds: 120
        )
        return try await command.run()
    }

    /// The report of a batch of these lines.
    static func report(_ lines: [String]) async throws -> ReportBench {
        let bench = try ReportBench()
        let result = try await bench.write(
            ["batch", "-", "--format", "json"], option: "--report",
            input: lines.joined(separator: "\n"))
        #expect(result.errorText.contains("Page written to"), "\(result.errorText)")
        return bench
    }

    /// The preview of these sources.
    static func preview(_ sources: [String], _ options: [String] = []) async throws -> ReportBench {
        let bench = try ReportBench()
        try await bench.write(["prepare"] + sources + options, option: "--preview")
        return bench
    }

    /// Opens a page that was written.
    func open(
        _ name: String = "page.html", at place: String = "", width: Int = 1280, height: Int = 900, dark: Bool = false,
        isPhone: Bool = false, hasMotion: Bool = true
    ) async throws -> BrowserPage {
        let page = try await SharedBrowser.get().page(
            width: width, height: height, dark: dark, isPhone: isPhone, hasMotion: hasMotion)
        try await page.open("file://\(folder.path(name))\(place)")
        try await page.waits(until: "document.querySelector('main')?.childElementCount > 0")
        return page
    }

    static func sample(_ name: String) -> String { SourceTree.sample(name) }
}
