import TestSupport
import Testing

/// axe-core on the pages that the command writes (issue 19, 14).
@Suite(.timeLimit(.minutes(5))) struct AuditTests {
    private static let sources =
        ["grid.webp", "counter.gif", "clock.mkv", "tone.flac", "truncated.jpg", "arrow.svg"].map(ReportBench.sample)
    private static let screens = [(1280, 800, false), (390, 844, true)]

    private func expectNoFinding(_ bench: ReportBench, at place: String = "", ready: String) async throws {
        for (width, height, isPhone) in Self.screens {
            for dark in [false, true] {
                let page = try await bench.open(at: place, width: width, height: height, dark: dark, isPhone: isPhone)
                try await page.waits(until: ready)
                let findings = try await page.accessibilityFindings()
                #expect(findings.isEmpty, "\(width), dark: \(dark): \(findings)")
            }
        }
    }

    @Test func `axe finds nothing in a preview`() async throws {
        try await expectNoFinding(
            try await ReportBench.preview(Self.sources), ready: "document.querySelector('canvas[data-drawn]')")
    }

    @Test func `axe finds nothing in a report, nor in a result that is opened in it`() async throws {
        let bench = try await ReportBench.report(Self.sources)
        try await expectNoFinding(bench, ready: "document.querySelector('.rows .row')")
        try await expectNoFinding(bench, at: "#item=2", ready: "document.querySelector('dialog').open")
    }
}
