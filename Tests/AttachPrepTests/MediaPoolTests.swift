import AttachPrep
import Foundation
import Glibc
import MediaEngine
import RichPush
import TestSupport
import Testing

/// The pool with its real children.
struct MediaPoolTests {
    private func pool(slots: Int = 1) throws -> MediaProcessPool {
        try MediaProcessPool(executable: BuiltBinary.attachprepMedia(), mediaSlots: slots)
    }

    private func sample(_ name: String) -> CInt {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return open(root.appendingPathComponent("samples/media/\(name)").path, O_RDONLY | O_CLOEXEC)
    }

    private func inspect(_ pool: MediaProcessPool, _ name: String, _ format: MediaFormat) async throws -> InspectedMedia
    {
        let source = sample(name)
        defer { close(source) }
        return try await pool.inspect(
            InspectRequest(format: format, decodesStills: true), source: source, deadline: .now + .seconds(60))
    }

    @Test func `A call is answered by a child`() async throws {
        let pool = try pool()
        let media = try await inspect(pool, "orientation-6.jpg", .jpeg)
        #expect(media.orientation == .rotated90 && media.width == 800 && media.height == 600)
    }

    @Test func `An error of the child arrives as it was thrown`() async throws {
        let pool = try pool()
        let error = await #expect(throws: AttachPrepError.self) { try await inspect(pool, "truncated.jpg", .jpeg) }
        #expect(error?.code == .mediaCorrupt)
    }

    @Test func `Many calls share few children`() async throws {
        let pool = try pool(slots: 2)
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<40 { group.addTask { try await inspect(pool, "grid.png", .png).width } }
            for try await width in group { #expect(width == 800) }
        }
    }

    @Test func `A call that nobody waits for any more ends at once`() async throws {
        let pool = try pool()
        let task = Task { try await inspect(pool, "grid.png", .png) }
        task.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await inspect(pool, "grid.png", .png).width == 800)
    }

    @Test func `What a render had written when its time was over stands`() async throws {
        let bytes = Array("picture".utf8)
        var written = RenderedMedia()
        written.thumbnail = RenderedImage(type: .jpeg, width: 3, height: 2, bytes: bytes.count)
        let child = try ScriptedChild("hear()\nsay(1, {'progress': {'_0': \(ScriptedChild.python(written))}})\npause()")
        let folder = try TemporaryFolder()
        let output = open(try folder.write(bytes, to: "thumbnail"), O_RDWR | O_CLOEXEC)
        let source = sample("grid.png")
        defer { for descriptor in [output, source] { close(descriptor) } }
        var request = RenderRequest(format: .png, picture: .still)
        request.thumbnail = ThumbnailRendition(width: 3, height: 3, fit: .contain)
        try await child.withPool { pool in
            let rendered = try await pool.render(
                request, source: source, outputs: [output], deadline: .now + .seconds(2))
            #expect(rendered == written)
        }
    }

    @Test func `A deadline that is over kills the child and the next call has a new one`() async throws {
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

    @Test func `An executable that cannot be started is an error that says what to do`() async throws {
        let pool = try MediaProcessPool(executable: "/nonexistent/attachprep-media", mediaSlots: 1)
        let error = await #expect(throws: AttachPrepError.self) { try await inspect(pool, "grid.png", .png) }
        #expect(error?.code == .internal && error?.message.contains("doctor") == true)
    }
}

struct MediaExecutableTests {
    @Test func `The variable wins, then the neighbour, then libexec`() {
        let named = MediaExecutable.candidates(
            environment: ["ATTACHPREP_MEDIA": "/opt/m"], runningExecutable: "/usr/bin/attachprep")
        #expect(named == ["/opt/m"])
        let found = MediaExecutable.candidates(environment: [:], runningExecutable: "/usr/bin/attachprep")
        #expect(found == ["/usr/bin/attachprep-media", "/usr/bin/../libexec/attachprep-media"])
    }

    @Test(arguments: [("200000 100000", 2), ("50000 100000", 1), ("150000 100000", 2), ("400000 100000\n", 4)])
    func `A control group's quota is read as cores`(quota: String, cores: Int) {
        #expect(MediaSlots.cores(quota: quota) == cores)
    }

    @Test(arguments: ["max 100000", "-1\n 100000\n", "", "nonsense", "1 0"]) func `No quota is no limit`(quota: String)
    {
        #expect(MediaSlots.cores(quota: quota) == nil)
    }
}
