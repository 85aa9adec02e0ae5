import Foundation
import TestSupport
import Testing

/// `--rendition display`, `--network` and `--device-budget`.
@Suite(.timeLimit(.minutes(2))) struct RenditionTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    @Test(arguments: ["grid.jpg", "clock.mp4", "counter.gif", "grid.png"])
    func `What a phone shows and fetches anyway is passed`(name: String) async throws {
        let manifest = try await bench.prepare(CommandBench.url(name), "--rendition", "display")
        #expect(manifest.attachment?.bytes ?? .max <= manifest.source.bytes ?? 0)
        #expect(manifest.deviceFetch?["3g"] ?? 99 <= 8)
    }

    @Test func `Sound is brought down to 96 kbit a second`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("tone.wav"), "--rendition", "display")
        let attachment = try #require(manifest.attachment)
        #expect(manifest.outcome == "shrunk" && attachment.uti == "public.mpeg-4-audio")
        #expect(Double(attachment.bytes) * 8 / (attachment.duration ?? 1) < 105_000)
    }

    @Test func `A slow network makes the attachment smaller, and the manifest says how long it takes`() async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("clock.mp4"), "--network", "100", "--device-budget", "2.86s")
        #expect(manifest.outcome == "shrunk" && manifest.attachment?.bytes ?? .max <= 32_000)
    }
}
