import Foundation
import TestSupport
import Testing

/// The first notifications of the sample campaign, with the compiled sample extension, which takes a minute or two.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil), .timeLimit(.minutes(10)))
struct CampaignTests {
    private struct Report: Decodable {
        struct Notification: Decodable {
            struct Shown: Decodable {
                let outcome: String
                let bytes: Int
            }

            let name: String
            /// By network, variant and time limit.
            let shown: [String: [String: [String: Shown]]]
        }

        let notifications: [Notification]
    }

    @Test func `The sample extension attaches prepared media over a simulated mobile network`() async throws {
        let folder = try TemporaryFolder()
        let build = try await RunCommand(
            SourceTree.path("tools/simulated-device"), [folder.path("device")], timeoutSeconds: 300
        ).run()
        try #require(build.exitCode == 0, "\(build.errorText)")
        let result = try await RunCommand(
            SourceTree.path("Benchmarks/campaign"),
            ["--first", "5", "--networks", "wifi", "--json", folder.path("report.json")],
            environment: [
                "ATTACHPREP": BuiltBinary.attachprep(), "ATTACHPREP_MEDIA": BuiltBinary.attachprepMedia(),
                "SHAPING_SERVER": BuiltBinary.shapingServer(),
                "SIMULATED_DEVICE": folder.path("device/simulated-device"),
            ], timeoutSeconds: 240
        ).run()
        try #require(result.exitCode == 0, "\(result.errorText)")
        let report = try JSONDecoder().decode(Report.self, from: Data(folder.bytes(of: "report.json")))
        #expect(report.notifications.count == 5)
        for notification in report.notifications {
            let variants = try #require(notification.shown["wifi"])
            #expect(Set(variants.keys) == ["raw", "original", "display"])
            for variant in ["original", "display"] {
                let shown = try #require(variants[variant]?["30"])
                #expect(shown.outcome == "attached", "\(notification.name), \(variant)")
                #expect(shown.bytes > 0)
            }
        }
    }
}
