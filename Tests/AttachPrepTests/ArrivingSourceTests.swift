import AttachPrep
import Foundation
import MediaEngine
import RichPush
import TestSupport
import Testing

/// Sources that are worked on while they arrive, by real children from a real server.
@Suite(.timeLimit(.minutes(5))) struct ArrivingSourceTests {
    private static let photograph = Result { try picture("3200x2400", ["-quality", "85"], "jpg") }
    private static let drawing = Result { try picture("1000x800", ["-depth", "8"], "png") }

    private static func picture(_ size: String, _ options: [String], _ ending: String) throws -> Data {
        let path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).\(ending)").path
        let noise = ["-seed", "3", "-size", size, "plasma:", "-attenuate", "0.4", "+noise", "Gaussian"]
        try GeneratedMedia.run("convert", noise + options + [path])
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private static let movie = Result { try movie(index: "-movflags +faststart") }
    private static let indexLast = Result { try movie(index: "") }

    private static func movie(index: String) throws -> Data {
        // What comes last of the tone and the noise is more than the rest that is held back.
        let file = try GeneratedMedia.numbered(
            "arriving\(index.count).mp4",
            "-vf scale=640:480,noise=alls=20:allf=t -c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p "
                + "-c:a aac \(index)")
        return try Data(contentsOf: file)
    }

    private let server: LoopbackServer
    private let folder: TemporaryFolder
    private let pool: MediaProcessPool
    private let record: WorkRecord
    private let preparer: AttachmentPreparer
    private let bytes: Data
    /// Bytes that are held back until the test says so.
    private let rest = 90_000

    init() async throws {
        bytes = try Self.photograph.get()
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        pool = try MediaProcessPool(executable: BuiltBinary.attachprepMedia(), mediaSlots: 1)
        // One that is warm: a cold child is not waited for.
        _ = try await pool.describe(deadline: .now + .seconds(60))
        record = WorkRecord(pool)
        var configuration = PreparerConfiguration(output: folder.url.path)
        configuration.download.allowsPrivateNetwork = true
        preparer = try AttachmentPreparer(configuration, engine: record)
    }

    private func prepare(_ path: String) async -> Manifest {
        await preparer.prepare(AttachmentRequest(source: server.url(path)))
    }

    /// The thumbnail of the same picture when it comes at once and no slot is free early.
    private func usualThumbnail(of bytes: Data? = nil) async throws -> String? {
        let bytes = bytes ?? self.bytes
        server.serve("/usual", .body(bytes))
        var configuration = PreparerConfiguration(output: folder.url.path)
        configuration.download.allowsPrivateNetwork = true
        let usual = try AttachmentPreparer(configuration, engine: InTurnOnly(engine: pool))
        let manifest = await usual.prepare(AttachmentRequest(source: server.url("/usual")))
        await usual.shutdown()
        return manifest.thumbnail?.sha256
    }

    private struct InTurnOnly: MediaEngine {
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
                try (self == .photograph ? ArrivingSourceTests.photograph : ArrivingSourceTests.drawing).get()
            }
        }
    }

    @Test(arguments: Kind.allCases) func `A thumbnail is begun before the picture is there, and made once`(
        kind: Kind
    ) async throws {
        let bytes = try kind.bytes
        let gate = LoopbackGate { [record] in record.renders.contains(where: \.isArriving) }
        server.serve(
            "/a", .start(of: bytes, bytes: bytes.count - rest).then(.wait(gate), .send(bytes.suffix(rest))))
        let manifest = await prepare("/a")
        #expect(manifest.outcome == .passed && manifest.error == nil)
        #expect(record.renders.map(\.isArriving) == [true])
        #expect(record.renders.map(\.isMade) == [true])
        let usual = try await usualThumbnail(of: bytes)
        #expect(manifest.thumbnail?.sha256 == usual && usual != nil)
        #expect(manifest.attachment?.bytes == bytes.count)
        await preparer.shutdown()
    }

    @Test func `A picture that stops arriving gives its slot back, and is worked on when it is there`() async throws {
        let gate = LoopbackGate { [record] in record.renders.first?.isMade == false }
        server.serve(
            "/b", .start(of: bytes, bytes: bytes.count - rest).then(.wait(gate), .send(bytes.suffix(rest))))
        let manifest = await prepare("/b")
        #expect(manifest.outcome == .passed)
        #expect(record.renders.map(\.isArriving) == [true, false])
        #expect(record.renders.map(\.isMade) == [false, true])
        let usual = try await usualThumbnail()
        #expect(manifest.thumbnail?.sha256 == usual)
        await preparer.shutdown()
    }

    @Test func `A picture that breaks off leaves neither a folder nor a strike`() async throws {
        let gate = LoopbackGate { [record] in record.renders.contains(where: \.isArriving) }
        server.serve("/c", .start(of: bytes, bytes: bytes.count - rest).then(.wait(gate), .reset))
        var request = AttachmentRequest(source: server.url("/c"))
        request.budgetSeconds = 3
        let manifest = await preparer.prepare(request)
        #expect(manifest.outcome == .rejected)
        #expect(manifest.error?.code.rawValue.hasPrefix("media.") == false)
        #expect(try folder.contents().isEmpty)
        await preparer.shutdown()
    }

    @Test func `A picture that is cut where it should end is found out`() async throws {
        let gate = LoopbackGate { [record] in record.renders.contains(where: \.isArriving) }
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

    @Test func `A movie is inspected before all of it is there, and once`() async throws {
        let movie = try Self.movie.get()
        serve("/e", movie, behind: LoopbackGate { [record] in record.inspections.contains(where: \.isArriving) })
        let manifest = await prepare("/e")
        #expect(manifest.outcome == .passed && manifest.error == nil)
        #expect(record.inspections.map(\.isMade) == [true] && record.renders.isEmpty)
        let usual = try await usualThumbnail(of: movie)
        #expect(manifest.thumbnail?.sha256 == usual && usual != nil)
        #expect(manifest.attachment?.duration.map { abs($0 - 5) < 0.1 } == true)
        await preparer.shutdown()
    }

    @Test func `A movie whose index comes last is inspected when it is there`() async throws {
        let movie = try Self.indexLast.get()
        serve("/f", movie, behind: LoopbackGate { [record] in record.inspections.first?.isMade == false })
        let manifest = await prepare("/f")
        #expect(manifest.outcome == .passed && manifest.thumbnail != nil)
        #expect(record.inspections.map(\.isArriving) == [true, false])
        #expect(record.inspections.map(\.isMade) == [false, true])
        await preparer.shutdown()
    }

    @Test func `A movie with a hole where it ends is found out`() async throws {
        var movie = try Self.movie.get()
        movie.replaceSubrange((movie.count - rest)..., with: Data(count: rest))
        serve("/g", movie, behind: LoopbackGate { [record] in record.inspections.contains(where: \.isArriving) })
        let manifest = await prepare("/g")
        #expect(manifest.outcome != .passed)
        #expect(record.inspections.map(\.isArriving) == [true, false])
        await preparer.shutdown()
    }

    // MARK: Another body than the one that was worked on (issue 18)

    /// A first answer whose end is held back until what is made of it is made; then the connection breaks, and the
    /// retry gets another body.
    private func serve(
        _ path: String, _ first: Data, padding: Int, then second: Data, when isMade: @escaping @Sendable () -> Bool
    ) {
        server.serve(
            path,
            inTurn: [
                .start(of: first, bytes: first.count, declaring: first.count + padding).then(
                    .wait(LoopbackGate(when: isMade)), .reset),
                .body(second),
            ])
    }

    @Test func `A whole picture's thumbnail is not used for half a picture that comes on the retry`() async throws {
        serve("/h", bytes, padding: 10, then: bytes.prefix(bytes.count / 2)) { [record] in
            record.renders.first?.isMade == true
        }
        let manifest = await prepare("/h")
        #expect(record.renders.first?.isMade == true && server.requests.count == 2)
        #expect(manifest.outcome != .passed, "\(manifest)")
        let whole = try await usualThumbnail()
        #expect(manifest.thumbnail?.sha256 != whole)
        await preparer.shutdown()
    }

    /// A movie with a box of nothing behind it, of which the last bytes are missing.
    private func paddedMovie() throws -> (arrived: Data, padding: Int) {
        let (size, missing) = (300_000, 10)
        let head = withUnsafeBytes(of: UInt32(size).bigEndian) { Data($0) } + Data("free".utf8)
        return (try Self.movie.get() + head + Data(count: size - head.count - missing), missing)
    }

    @Test func `A whole movie's inspection is not used for noise that comes on the retry`() async throws {
        let (movie, padding) = try paddedMovie()
        // As long as the movie that was promised, and behind the same first box.
        var state: UInt32 = 1
        let noise = Data(
            (0..<movie.count + padding - 32).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(truncatingIfNeeded: state >> 24)
            })
        serve("/i", movie, padding: padding, then: movie.prefix(32) + noise) { [record] in
            record.inspections.first?.isMade == true
        }
        let manifest = await prepare("/i")
        #expect(record.inspections.first?.isMade == true && server.requests.count == 2)
        #expect(manifest.outcome == .rejected && manifest.thumbnail == nil)
        await preparer.shutdown()
    }

    @Test func `What was made of a movie is kept when the rest of it comes on the retry`() async throws {
        let (movie, padding) = try paddedMovie()
        let whole = movie + Data(count: padding)
        server.serve("/j") { [record] request in
            request.number == 1
                ? .start(of: movie, bytes: movie.count, declaring: whole.count, ["ETag": "\"1\""]).then(
                    .wait(LoopbackGate { record.inspections.first?.isMade == true }), .reset)
                : .ranged(whole, etag: "\"1\"", for: request)
        }
        let manifest = await prepare("/j")
        #expect(server.requests.map(\.rangeStart) == [nil, movie.count])
        #expect(manifest.outcome == .passed && manifest.thumbnail != nil)
        #expect(record.inspections.map(\.isMade) == [true] && record.renders.isEmpty)
        await preparer.shutdown()
    }

    @Test func `A picture whose rest comes on the retry keeps its thumbnail`() async throws {
        let whole = bytes + Data(count: 10)
        server.serve("/k") { [record, bytes] request in
            request.number == 1
                ? .start(of: whole, bytes: bytes.count, ["ETag": "\"1\""]).then(
                    .wait(LoopbackGate { record.renders.first?.isMade == true }), .reset)
                : .ranged(whole, etag: "\"1\"", for: request)
        }
        let manifest = await prepare("/k")
        #expect(server.requests.map(\.rangeStart) == [nil, bytes.count])
        #expect(manifest.outcome == .passed && record.renders.map(\.isMade) == [true])
        await preparer.shutdown()
    }
}
