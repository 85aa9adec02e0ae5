import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import SQLStore
import SQLiteDatabase
import TestSupport
import Testing

struct SchemathesisTests {
    @Test func `Schemathesis finds no deviation from the OpenAPI document`() async throws {
        let tools = SourceTree.root.appendingPathComponent("tools/schemathesis")
        let install = try await RunCommand(tools.appendingPathComponent("install").path, timeoutSeconds: 300).run()
        let program = try #require(install.lines.last, "make deps-test installs schemathesis: \(install.errorText)")
        let (folder, feed) = (try TemporaryFolder(), JobFeed())
        let store = try await SQLiteStore.open(folder: folder.makeFolder("state"), role: .service, feed: feed)
        let media = try await Self.media(in: store, folder)
        let service = try await LiveService(keptIn: store, feed: feed) { settings in
            settings.wrongTokensPerSecondMax = 0
            // No worker runs here.
            settings.payloadSecondsMax = 0.05
        }
        let receipt = try await service.receiptService.receipt(campaign: "spring", recipients: 100)
        let rules = try String(contentsOf: tools.appendingPathComponent("schemathesis.toml"), encoding: .utf8)
        let file = """
            [[operations]]
            include-path = "/media/{id}/{file}"
            parameters = { id = "\(media)", file = "attachment.jpg" }

            [[operations]]
            include-path = "/v1/campaigns/{name}"
            parameters = { name = "spring" }

            [[operations]]
            include-path = "/assets/{name}"
            parameters = { name = "dashboard.js" }

            """
        try folder.write("\(rules)\n\(file)", to: "schemathesis.toml")
        let result = try await RunCommand(
            program,
            [
                "--config-file", folder.path("schemathesis.toml"), "run",
                "http://127.0.0.1:\(service.port)/openapi.json", "--header",
                "Authorization: Bearer \(LiveService.token)", "--seed", "20261121",
                // All checks except use_after_free: DELETE cancels a job, which still exists.
                "--checks", "all", "--exclude-checks", "use_after_free",
                "--generation-deterministic", "--max-examples", "5", "--request-timeout", "20", "--no-color",
                // The endless event stream is tested in EventRouteTests.
                "--exclude-operation-id", "listen",
            ],
            environment: [
                "SCHEMATHESIS_HOOKS": "hooks", "RECEIPT_TOKEN": receipt.token, "SESSION_TOKEN": LiveService.token,
                "PYTHONPATH": tools.path, "PYTHONDONTWRITEBYTECODE": "1",
            ],
            folder: folder.path, timeoutSeconds: 480
        ).run()
        #expect(result.exitCode == 0, "\(result.text.prefix(10_000))\n\(result.errorText)")
        let generated = result.text.components(separatedBy: " generated,").first?.split(separator: " ").last
        #expect(generated.flatMap { Int($0.filter(\.isNumber)) } ?? 0 > 1_000, "\(result.text.suffix(1_000))")
    }

    /// Stores a result with a file.
    private static func media(in store: SQLJobStore, _ folder: TemporaryFolder) async throws -> MediaID {
        let result = try folder.makeFolder("result")
        let bytes: [UInt8] = Array(repeating: 7, count: 1_000)
        try folder.write(bytes, to: "result/attachment.jpg")
        try folder.write("{}", to: "result/manifest.json")
        var manifest = Manifest(
            id: "cat", requestDigest: "d", outcome: .passed, source: ManifestSource(url: "https://a.example/cat.jpg"))
        let digest = String(repeating: "7", count: 64)
        manifest.attachment = ManifestFile(file: "attachment.jpg", type: .jpeg, bytes: bytes.count, sha256: digest)
        return try await store.store(
            manifest, folder: result, for: WorkKey("key"), freshness: nil, fetchedAt: .now
        ).media
    }
}
