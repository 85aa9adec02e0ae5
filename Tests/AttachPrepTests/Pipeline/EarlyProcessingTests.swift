import AttachPrep
import AttachPrepModel
import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

/// Sources processed while they are downloaded from a server, by real media processes.
@Suite(.timeLimit(.minutes(5))) struct EarlyProcessingTests {
    private static let photograph = Result { try image("3200x2400", ["-quality", "85"], "jpg") }
    private static let drawing = Result { try image("1000x800", ["-depth", "8"], "png") }

    private static func image(_ size: String, _ options: [String], _ ending: String) throws -> Data {
        let path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).\(ending)").path
        let noise = ["-seed", "3", "-size", size, "plasma:", "-attenuate", "0.4", "+noise", "Gaussian"]
        try GeneratedMedia.run("convert", noise + options + [path])
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private static let movie = Result { try movie(index: "-movflags +faststart") }
    private static let indexLast = Result { try movie(index: "") }

    private static func movie(index: String) throws -> Data {
        // The noise and the tone make the last part of the movie larger than what is withheld.
        let file = try GeneratedMedia.numbered(
            "downloading\(index.count).mp4",
            "-vf scale=640:480,noise=alls=20:allf=t -c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p "
                + "-c:a aac \(index)")
        return try Data(contentsOf: file)
    }

    private let server: LoopbackServer
    private let folder: TemporaryFolder
    private let pool: MediaProcessPool
    private let record: RecordingEngine
    private let preparer: AttachmentPreparer
    private let bytes: Data
    /// Bytes that are withheld until the test releases them.
    private let rest = 90_000

    init() async throws {
        bytes = try Self.photograph.get()
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        pool = try MediaProcessPool(executable: BuiltBinary.attachprepMedia(), mediaSlots: 1)
        // A warm process: early processing does not wait for one that is still starting.
        _ = try await pool.describe(deadline: .now + .seconds(60))
        record = RecordingEngine(pool)
        var configuration = PreparerConfiguration(output: folder.url.path)
        configuration.download.allowsPrivateNetwork = true
        preparer = try AttachmentPreparer(configuration, engine: record)
    }

    private func prepare(_ path: String) async -> Manifest {
        await preparer.prepare(AttachmentRequest(source: server.url(path)))
    }

    /// The thumbnail of the same file without early processing.
    private func expectedThumbnail(of bytes: Data? = nil) async throws -> String? {
        let bytes = bytes ?? self.bytes
        server.serve("/expected", .body(bytes))
        var configuration = PreparerConfiguration(output: folder.url.path)
        configuration.download.allowsPrivateNetwork = true
        let preparer = try AttachmentPreparer(configuration, engine: WithoutFreeSlot(engine: pool))
        let manifest = await preparer.prepare(AttachmentRequest(source: server.url("/expected")))
        await preparer.shutdown()
        return manifest.thumbnail?.sha256
    }

    /// Has no free slot for early processing.
    private struct WithoutFreeSlot: MediaEngine {
        let engine: any MediaEngine

        func perform(
            _ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant
        ) async throws -> MediaAnswer {
            try await engine.perform(call, descriptors: descriptors, deadline: deadline)
        }
    }

    enum Kind: CaseIterable {
        case photograph, drawing

        var bytes: Data {
            get throws {
                try (self == .photograph ? EarlyProcessingTests.photograph : EarlyProcessingTests.drawing).get()
            }
        }
    }

    @Test(arguments: Kind.allCases) func `A thumbnail is started before the image is complete, and rendered once`(
        kind: Kind
    ) async throws {
        let bytes = try kind.bytes
        let gate = LoopbackGate { [record] in record.renders.contains(where: \.isDownloading) }
        server.serve(
            "/a", .start(of: bytes, bytes: bytes.count - rest).then(.wait(gate), .send(bytes.suffix(rest))))
        let manifest = await prepare("/a")
        #expect(manifest.outcome == .passed && manifest.error == nil)
        #expect(record.renders.map(\.isDownloading) == [true])
        #expect(record.renders.map(\.succeeded) == [true])
        let expected = try await expectedThumbnail(of: bytes)
        #expect(manifest.thumbnail?.sha256 == expected && expected != nil)
        #expect(manifest.attachment?.bytes == bytes.count)
        await preparer.shutdown()
    }

    @Test func `An image whose download stalls releases its slot, and is processed when it is complete`() async throws {
        let gate = LoopbackGate { [record] in record.renders.first?.succeeded == false }
        server.serve(
            "/b", .start(of: bytes, bytes: bytes.count - rest).then(.wait(gate), .send(bytes.suffix(rest))))
        let manifest = await prepare("/b")
        #expect(manifest.outcome == .passed)
        #expect(record.renders.map(\.isDownloading) == [true, false])
        #expect(record.renders.map(\.succeeded) == [false, true])
        let expected = try await expectedThumbnail()
        #expect(manifest.thumbnail?.sha256 == expected)
        await preparer.shutdown()
    }

    @Test func `An interrupted image leaves neither a folder nor a quarantine strike`() async throws {
        let gate = LoopbackGate { [record] in record.renders.contains(where: \.isDownloading) }
        server.serve("/c", .start(of: bytes, bytes: bytes.count - rest).then(.wait(gate), .reset))
        var request = AttachmentRequest(source: server.url("/c"))
        request.budgetSeconds = 3
        let manifest = await preparer.prepare(request)
        #expect(manifest.outcome == .rejected)
        #expect(manifest.error?.code.rawValue.hasPrefix("media.") == false)
        #expect(try folder.contents().isEmpty)
        await preparer.shutdown()
    }

    @Test func `An image whose end is zeroed is rejected as corrupt`() async throws {
        let gate = LoopbackGate { [record] in record.renders.contains(where: \.isDownloading) }
        var cut = bytes
        cut.replaceSubrange((cut.count - rest)..., with: Data(count: rest))
        server.serve("/d", .start(of: cut, bytes: cut.count - rest).then(.wait(gate), .send(cut.suffix(rest))))
        let manifest = await prepare("/d")
        #expect(manifest.error?.code == .mediaCorrupt)
        await preparer.shutdown()
    }

    // MARK: Movies

    private func serve(_ path: String, _ movie: Data, behind gate: LoopbackGate) {
        server.serve(
            path, .start(of: movie, bytes: movie.count - rest).then(.wait(gate), .send(movie.suffix(rest))))
    }

    @Test func `A movie is inspected before it is complete, and only once`() async throws {
        let movie = try Self.movie.get()
        serve("/e", movie, behind: LoopbackGate { [record] in record.inspections.contains(where: \.isDownloading) })
        let manifest = await prepare("/e")
        #expect(manifest.outcome == .passed && manifest.error == nil)
        #expect(record.inspections.map(\.succeeded) == [true] && record.renders.isEmpty)
        let expected = try await expectedThumbnail(of: movie)
        #expect(manifest.thumbnail?.sha256 == expected && expected != nil)
        #expect(manifest.attachment?.duration.map { abs($0 - 5) < 0.1 } == true)
        await preparer.shutdown()
    }

    @Test func `A movie with its index at the end is inspected when it is complete`() async throws {
        let movie = try Self.indexLast.get()
        serve("/f", movie, behind: LoopbackGate { [record] in record.inspections.first?.succeeded == false })
        let manifest = await prepare("/f")
        #expect(manifest.outcome == .passed && manifest.thumbnail != nil)
        #expect(record.inspections.map(\.isDownloading) == [true, false])
        #expect(record.inspections.map(\.succeeded) == [false, true])
        await preparer.shutdown()
    }

    @Test func `A movie whose end is zeroed is not delivered unchanged`() async throws {
        var movie = try Self.movie.get()
        movie.replaceSubrange((movie.count - rest)..., with: Data(count: rest))
        serve("/g", movie, behind: LoopbackGate { [record] in record.inspections.contains(where: \.isDownloading) })
        let manifest = await prepare("/g")
        #expect(manifest.outcome != .passed)
        #expect(record.inspections.map(\.isDownloading) == [true, false])
        await preparer.shutdown()
    }

    // MARK: Another body on retry (issue 18)

    /// Withholds the end of the first response until early processing has finished, then breaks the connection; the
    /// retry gets another body.
    private func serve(
        _ path: String, _ first: Data, padding: Int, then second: Data, when isDone: @escaping @Sendable () -> Bool
    ) {
        server.serve(
            path,
            inTurn: [
                .start(of: first, bytes: first.count, declaring: first.count + padding).then(
                    .wait(LoopbackGate(when: isDone)), .reset),
                .body(second),
            ])
    }

    @Test func `A complete image's thumbnail is not reused for half an image on retry`() async throws {
        serve("/h", bytes, padding: 10, then: bytes.prefix(bytes.count / 2)) { [record] in
            record.renders.first?.succeeded == true
        }
        let manifest = await prepare("/h")
        #expect(record.renders.first?.succeeded == true && server.requests.count == 2)
        #expect(manifest.outcome != .passed, "\(manifest)")
        let whole = try await expectedThumbnail()
        #expect(manifest.thumbnail?.sha256 != whole)
        await preparer.shutdown()
    }

    /// A movie followed by a `free` box whose last bytes are missing.
    private func paddedMovie() throws -> (received: Data, padding: Int) {
        let (size, missing) = (300_000, 10)
        let head = withUnsafeBytes(of: UInt32(size).bigEndian) { Data($0) } + Data("free".utf8)
        return (try Self.movie.get() + head + Data(count: size - head.count - missing), missing)
    }

    @Test func `A complete movie's inspection is not reused for noise on retry`() async throws {
        let (movie, padding) = try paddedMovie()
        // As long as the declared movie, and after the same first box.
        var state: UInt32 = 1
        let noise = Data(
            (0..<movie.count + padding - 32).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(truncatingIfNeeded: state >> 24)
            })
        serve("/i", movie, padding: padding, then: movie.prefix(32) + noise) { [record] in
            record.inspections.first?.succeeded == true
        }
        let manifest = await prepare("/i")
        #expect(record.inspections.first?.succeeded == true && server.requests.count == 2)
        #expect(manifest.outcome == .rejected && manifest.thumbnail == nil)
        await preparer.shutdown()
    }

    @Test func `A movie's early inspection is kept when the retry resumes the movie`() async throws {
        let (movie, padding) = try paddedMovie()
        let whole = movie + Data(count: padding)
        server.serve("/j") { [record] request in
            request.number == 1
                ? .start(of: movie, bytes: movie.count, declaring: whole.count, ["ETag": "\"1\""]).then(
                    .wait(LoopbackGate { record.inspections.first?.succeeded == true }), .reset)
                : .ranged(whole, etag: "\"1\"", for: request)
        }
        let manifest = await prepare("/j")
        #expect(server.requests.map(\.rangeStart) == [nil, movie.count])
        #expect(manifest.outcome == .passed && manifest.thumbnail != nil)
        #expect(record.inspections.map(\.succeeded) == [true] && record.renders.isEmpty)
        await preparer.shutdown()
    }

    @Test func `An image's early thumbnail is kept when the retry resumes the image`() async throws {
        let whole = bytes + Data(count: 10)
        server.serve("/k") { [record, bytes] request in
            request.number == 1
                ? .start(of: whole, bytes: bytes.count, ["ETag": "\"1\""]).then(
                    .wait(LoopbackGate { record.renders.first?.succeeded == true }), .reset)
                : .ranged(whole, etag: "\"1\"", for: request)
        }
        let manifest = await prepare("/k")
        #expect(server.requests.map(\.rangeStart) == [nil, bytes.count])
        #expect(manifest.outcome == .passed && record.renders.map(\.succeeded) == [true])
        await preparer.shutdown()
    }
}
