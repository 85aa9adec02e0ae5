import Foundation
import TestSupport
import Testing

/// Samples that iOS attaches are delivered unchanged, with the right file name and type.
@Suite(.timeLimit(.minutes(2))) struct UnchangedSampleTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name, file, kind, uti, mimeType: String
        var testDescription: String { name }

        init(_ name: String, _ file: String, _ kind: String, _ uti: String, _ mimeType: String) {
            (self.name, self.file, self.kind, self.uti, self.mimeType) = (name, file, kind, uti, mimeType)
        }
    }

    static let samples = [
        Sample("grid.jpg", "attachment.jpg", "image", "public.jpeg", "image/jpeg"),
        Sample("orientation-6.jpg", "attachment.jpg", "image", "public.jpeg", "image/jpeg"),
        Sample("cmyk.jpg", "attachment.jpg", "image", "public.jpeg", "image/jpeg"),
        Sample("grid.png", "attachment.png", "image", "public.png", "image/png"),
        Sample("grid.gif", "attachment.gif", "image", "com.compuserve.gif", "image/gif"),
        Sample("counter.gif", "attachment.gif", "image", "com.compuserve.gif", "image/gif"),
        Sample("tone.aiff", "attachment.aiff", "audio", "public.aiff-audio", "audio/aiff"),
        Sample("tone.wav", "attachment.wav", "audio", "com.microsoft.waveform-audio", "audio/wav"),
        Sample("cover.mp3", "attachment.mp3", "audio", "public.mp3", "audio/mpeg"),
        Sample("tone.m4a", "attachment.m4a", "audio", "public.mpeg-4-audio", "audio/mp4"),
        Sample("clock.mpg", "attachment.mpg", "movie", "public.mpeg", "video/mpeg"),
        Sample("clock.m2v", "attachment.m2v", "movie", "public.mpeg-2-video", "video/mpeg"),
        Sample("clock.mp4", "attachment.mp4", "movie", "public.mpeg-4", "video/mp4"),
        Sample("hevc.mp4", "attachment.mp4", "movie", "public.mpeg-4", "video/mp4"),
        Sample("portrait.mp4", "attachment.mp4", "movie", "public.mpeg-4", "video/mp4"),
        Sample("anamorphic.mp4", "attachment.mp4", "movie", "public.mpeg-4", "video/mp4"),
        Sample("clock.avi", "attachment.avi", "movie", "public.avi", "video/x-msvideo"),
    ]

    @Test(arguments: samples)
    func `An attachable sample is delivered unchanged`(sample: Sample) async throws {
        let manifest = try await PreparedSamples.manifest(sample.name)
        let attachment = try #require(manifest.attachment)
        let path = try await PreparedSamples.bench.path(manifest, attachment.file)
        let delivered = try Data(contentsOf: URL(filePath: path))
        let original = try Data(contentsOf: URL(filePath: SourceTree.sample(sample.name)))
        let digest = try await RunCommand("sha256sum", [SourceTree.sample(sample.name)]).run().text.prefix { $0 != " " }
        #expect(manifest.outcome == "passed")
        #expect(delivered == original)
        #expect(attachment.bytes == original.count && manifest.source.bytes == original.count)
        #expect(attachment.sha256 == String(digest) && manifest.source.sha256 == String(digest))
    }

    @Test(arguments: samples)
    func `File name, types and type hint of an attachable sample agree`(sample: Sample) async throws {
        let manifest = try await PreparedSamples.manifest(sample.name)
        let attachment = try #require(manifest.attachment)
        #expect(attachment.file == sample.file)
        #expect(attachment.kind == sample.kind)
        #expect(attachment.uti == sample.uti && manifest.options?.typeHint == sample.uti)
        #expect(attachment.mimeType == sample.mimeType && manifest.source.mimeType == sample.mimeType)
    }

    @Test(arguments: samples)
    func `A result folder holds its files and the manifest, nothing else`(sample: Sample) async throws {
        let manifest = try await PreparedSamples.manifest(sample.name)
        let expected = [manifest.attachment?.file, manifest.thumbnail?.file, "manifest.json"].compactMap { $0 }
        let folder = try await PreparedSamples.bench.path(manifest, ".")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == expected.sorted())
    }

    @Test(
        arguments: [
            ("grid.jpg", 800, 600, 1, nil), ("orientation-6.jpg", 800, 600, 1, nil), ("counter.gif", 320, 240, 12, 2.4),
            ("clock.mp4", 320, 240, nil, 4), ("portrait.mp4", 240, 320, nil, 4), ("anamorphic.mp4", 320, 240, nil, 4),
            ("clock.m2v", 320, 240, nil, 2), ("tone.wav", nil, nil, nil, 4), ("tone.aiff", nil, nil, nil, 4),
        ] as [(String, Int?, Int?, Int?, Double?)])
    func `The manifest has the displayed size, the number of frames and the duration, where they exist`(
        name: String, width: Int?, height: Int?, frames: Int?, duration: Double?
    ) async throws {
        let attachment = try #require(try await PreparedSamples.manifest(name).attachment)
        #expect(attachment.width == width && attachment.height == height)
        #expect(attachment.frames == frames)
        #expect(attachment.duration == duration)
    }
}

/// Samples that cannot be shown are rejected, and the others of the same run are prepared.
@Suite(.timeLimit(.minutes(2))) struct RejectedSampleTests {
    @Test(arguments: [
        ("tune.mid", "media.unsupported", 101), ("picture.jpg", "media.unrecognized", 101),
        ("truncated.jpg", "media.corrupt", 105), ("empty.png", "media.empty", 105),
    ])
    func `A rejected sample has its own error code and Apple's error number`(
        name: String, code: String, apple: Int
    ) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        try await PreparedSamples.bench.expect(manifest, rejectedAs: code)
        #expect(manifest.error?.appleCode == apple)
    }

    @Test func `A run with rejected sources exits with 1`() async throws {
        #expect(try await PreparedSamples.run.value.exitCode == 1)
    }

    @Test func `Only sources that are not rejected have a result folder`() async throws {
        let bench = try await PreparedSamples.bench
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media"))
        var ready: Set<String> = []
        for name in names {
            let manifest = try await PreparedSamples.manifest(name)
            if manifest.error == nil { ready.insert(manifest.id) }
        }
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: bench.output)) == ready)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path("tmp")) == [])
    }
}
