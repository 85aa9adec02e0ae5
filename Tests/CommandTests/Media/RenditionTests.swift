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
    func `With --rendition display, a source that a phone can already show and fetch is not enlarged`(name: String)
        async throws
    {
        let manifest = try await bench.prepare(CommandBench.url(name), "--rendition", "display")
        #expect(manifest.attachment?.bytes ?? .max <= manifest.source.bytes ?? 0)
        #expect(manifest.deviceFetch?["3g"] ?? 99 <= 8)
    }

    @Test func `With --rendition display, audio is encoded at 96 kbit/s`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("tone.wav"), "--rendition", "display")
        let attachment = try #require(manifest.attachment)
        #expect(manifest.outcome == "shrunk" && attachment.uti == "public.mpeg-4-audio")
        #expect(Double(attachment.bytes) * 8 / (attachment.duration ?? 1) < 105_000)
    }

    @Test func `A slower network makes the attachment smaller`() async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("clock.mp4"), "--network", "100", "--device-budget", "2.86s")
        #expect(manifest.outcome == "shrunk" && manifest.attachment?.bytes ?? .max <= 32_000)
    }
}
