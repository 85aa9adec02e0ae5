import Foundation
import TestSupport
import Testing

/// `inspect` reports what would be done and writes nothing; `doctor` reports what the machine provides.
@Suite(.timeLimit(.minutes(2))) struct InspectTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func inspect(_ arguments: String...) async throws -> CommandResult {
        try await bench.command(["inspect", "--allow-private-network"] + arguments).run()
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `The JSON of inspect has exactly the keys source, media and plan`() async throws {
        let result = try await inspect("--format", "json", CommandBench.url("clock.mp4"))
        let report = try object(result.text)
        let plan = try #require(report["plan"] as? [String: Any])
        #expect(result.exitCode == 0)
        #expect(Set(report.keys) == ["source", "media", "plan"])
        #expect(Set(plan.keys) == ["outcome", "reasons", "steps"])
        #expect(plan["outcome"] as? String == "passed")
        #expect((plan["steps"] as? [String])?.isEmpty == false)
        let media = try #require(report["media"] as? [String: Any])
        #expect(media["width"] as? Int == 320 && media["duration"] as? Double == 4)
        #expect(try bench.folder.contents() == ["tmp"])
    }

    @Test func `A source that would be rejected exits with 1 and has no steps`() async throws {
        let result = try await inspect("--format", "json", CommandBench.url("picture.jpg"))
        let report = try object(result.text)
        let plan = try #require(report["plan"] as? [String: Any])
        #expect(result.exitCode == 1)
        #expect(report["media"] is NSNull)
        #expect(plan["outcome"] as? String == "rejected")
        #expect(plan["steps"] as? [String] == [])
        #expect((plan["reasons"] as? [String])?.count == 1)
        #expect(try bench.folder.contents() == ["tmp"])
    }

    @Test(arguments: [("clock.webm", "H.264"), ("clock.mov", "copy"), ("tone.flac", "M4A"), ("counter.webp", "GIF")])
    func `The first step of a conversion names the target format`(name: String, word: String) async throws {
        let result = try await inspect("--format", "json", CommandBench.url(name))
        let plan = try #require(try object(result.text)["plan"] as? [String: Any])
        #expect(result.exitCode == 0 && plan["outcome"] as? String == "converted")
        #expect((plan["steps"] as? [String])?.first?.contains(word) == true)
    }

    @Test(arguments: ["clock.webm", "tone.flac", "counter.webp"])
    func `A source that would be rejected is still described if its format is known`(name: String) async throws {
        let result = try await inspect("--format", "json", "--unsupported", "reject", CommandBench.url(name))
        let report = try object(result.text)
        #expect(result.exitCode == 1)
        #expect(report["media"] is [String: Any])
        #expect((report["plan"] as? [String: Any])?["outcome"] as? String == "rejected")
    }

    @Test func `The text of inspect lists type, size and planned steps`() async throws {
        let result = try await inspect("--crop", "0,0,0.5,1", SourceTree.sample("orientation-6.jpg"))
        let lines = result.lines
        #expect(result.exitCode == 0)
        #expect(lines.first == "\(SourceTree.sample("orientation-6.jpg"))  passed")
        #expect(lines.contains { $0.hasPrefix("  type       image/jpeg, ") })
        #expect(lines.contains { $0.hasPrefix("  size       800x600, rotated (orientation 6)") })
        #expect(lines.contains("  plan       deliver the bytes unchanged as attachment.jpg"))
        #expect(lines.contains("  plan       write the crop at full resolution"))
        #expect(lines.contains("  plan       write a thumbnail, contain 300x300"))
    }

    @Test func `A still is decoded completely before inspect reports that it passes`() async throws {
        let result = try await inspect(SourceTree.sample("truncated.jpg"))
        #expect(result.exitCode == 1)
        #expect(result.text.contains("media.corrupt"))
    }

    @Test func `Several sources are reported in their order`() async throws {
        let names = ["clock.mp4", "grid.jpg", "tone.wav"].map(SourceTree.sample)
        let result = try await bench.command(["inspect", "--format", "json"] + names).run()
        let sources = try result.lines.map { try object($0)["source"] as? [String: Any] }
        #expect(sources.map { $0?["url"] as? String } == names)
    }

    @Test func `doctor lists libraries and formats, and finds no problems on this machine`() async throws {
        let result = try await bench.run("doctor")
        #expect(result.exitCode == 0)
        for word in ["attachprep ", "libcurl", "libvips", "libmagic", "libavcodec", "read H.264", "write JPEG"] {
            #expect(result.text.contains(word), "\(word)")
        }
        #expect(result.lines.last == "No problems found.")
    }

    @Test func `doctor has the same report as JSON`() async throws {
        let result = try await bench.run("doctor", "--format", "json")
        let report = try object(result.text)
        #expect(result.exitCode == 0)
        #expect(report["faults"] as? [String] == [])
        #expect((report["libraries"] as? [[String: Any]])?.contains { $0["name"] as? String == "libvips" } == true)
        #expect(report["mediaExecutable"] as? String == (try BuiltBinary.attachprepMedia()))
    }

    @Test func `doctor exits with 1 and a remedy when the media executable is missing`() async throws {
        let result = try await bench.command(["doctor"], environment: ["ATTACHPREP_MEDIA": "/nowhere/media"]).run()
        #expect(result.exitCode == 1)
        #expect(result.text.contains("/nowhere/media") && result.text.contains("apt-get install"))
    }
}
