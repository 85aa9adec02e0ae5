import AttachPrep
import AttachPrepModel
import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

/// The pool with real media processes.
struct MediaProcessPoolTests {
    private func pool(slots: Int = 1) throws -> MediaProcessPool {
        try MediaProcessPool(executable: BuiltBinary.attachprepMedia(), mediaSlots: slots)
    }

    private func sample(_ name: String) -> CInt {
        open(SourceTree.sample(name), O_RDONLY | O_CLOEXEC)
    }

    private func inspect(_ pool: MediaProcessPool, _ name: String, _ format: MediaFormat) async throws -> InspectedMedia
    {
        let source = sample(name)
        defer { close(source) }
        return try await pool.inspect(
            InspectRequest(format: format, decodesStills: true), source: source, deadline: .now + .seconds(60))
    }

    @Test func `A call is answered by a media process`() async throws {
        let pool = try pool()
        let media = try await inspect(pool, "orientation-6.jpg", .jpeg)
        #expect(media.orientation == .rotated90 && media.width == 800 && media.height == 600)
    }

    @Test func `An error thrown by the media process reaches the caller`() async throws {
        let pool = try pool()
        let error = await #expect(throws: AttachPrepError.self) { try await inspect(pool, "truncated.jpg", .jpeg) }
        #expect(error?.code == .mediaCorrupt)
    }

    @Test func `Many calls share few processes`() async throws {
        let pool = try pool(slots: 2)
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<40 { group.addTask { try await inspect(pool, "grid.png", .png).width } }
            for try await width in group { #expect(width == 800) }
        }
    }

    @Test func `A cancelled call ends at once`() async throws {
        let pool = try pool()
        let task = Task { try await inspect(pool, "grid.png", .png) }
        task.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await inspect(pool, "grid.png", .png).width == 800)
    }

    @Test func `What a render had written by its deadline is returned`() async throws {
        let bytes = Array("picture".utf8)
        var written = RenderedMedia()
        written.thumbnail = RenderedImage(type: .jpeg, width: 3, height: 2, bytes: bytes.count)
        let progress = try ScriptedMediaProcess.python(written)
        let mediaProcess = try ScriptedMediaProcess("receive()\nreply(1, {'progress': {'_0': \(progress)}})\npause()")
        let folder = try TemporaryFolder()
        let output = open(try folder.write(bytes, to: "thumbnail"), O_RDWR | O_CLOEXEC)
        let source = sample("grid.png")
        defer { for descriptor in [output, source] { close(descriptor) } }
        var request = RenderRequest(format: .png, frameSelection: .still)
        request.thumbnail = ThumbnailRendition(width: 3, height: 3, fit: .contain)
        try await mediaProcess.withPool { pool in
            let rendered = try await pool.render(
                request, source: source, outputs: [output], deadline: .now + .seconds(2))
            #expect(rendered == written)
        }
    }

    @Test func `A call past its deadline kills its process, and the next call gets a new one`() async throws {
        let pool = try pool()
        let source = sample("grid.png")
        defer { close(source) }
        let error = await #expect(throws: AttachPrepError.self) {
            try await pool.inspect(
                InspectRequest(format: .png, decodesStills: true), source: source, deadline: .now - .seconds(1))
        }
        #expect(error?.code == .deadlineExceeded)
        #expect(try await inspect(pool, "grid.png", .png).width == 800)
    }

    @Test func `An executable that cannot be started is an error that suggests the doctor command`() async throws {
        let pool = try MediaProcessPool(executable: "/nonexistent/attachprep-media", mediaSlots: 1)
        let error = await #expect(throws: AttachPrepError.self) { try await inspect(pool, "grid.png", .png) }
        #expect(error?.code == .internal && error?.message.contains("doctor") == true)
    }
}

struct MediaExecutableTests {
    @Test func `The environment variable takes precedence, then the same folder, then libexec`() {
        let named = MediaExecutable.candidates(
            environment: ["ATTACHPREP_MEDIA": "/opt/m"], runningExecutable: "/usr/bin/attachprep")
        #expect(named == ["/opt/m"])
        let found = MediaExecutable.candidates(environment: [:], runningExecutable: "/usr/bin/attachprep")
        #expect(found == ["/usr/bin/attachprep-media", "/usr/bin/../libexec/attachprep-media"])
    }

    @Test(arguments: [("200000 100000", 2), ("50000 100000", 1), ("150000 100000", 2), ("400000 100000\n", 4)])
    func `A cgroup quota is read as a number of cores`(quota: String, cores: Int) {
        #expect(MediaSlots.cores(quota: quota) == cores)
    }

    @Test(arguments: ["max 100000", "-1\n 100000\n", "", "nonsense", "1 0"])
    func `An absent or invalid cgroup quota is no limit`(quota: String) {
        #expect(MediaSlots.cores(quota: quota) == nil)
    }
}
