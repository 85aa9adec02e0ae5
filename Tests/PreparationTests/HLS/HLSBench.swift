import AttachPrep
import AttachPrepModel
import Foundation
import MediaProcessing
import TestSupport
import Testing

/// A preparer, and a server with the playlists of one test.
struct HLSBench: Sendable {
    let server: LoopbackServer
    let stream: HLSStream
    private let output: TemporaryFolder
    private let preparer: AttachmentPreparer

    init(allowsPrivateNetwork: Bool = true) throws {
        server = try LoopbackServer()
        stream = try HLSStream()
        output = try TemporaryFolder()
        var configuration = PreparerConfiguration(output: output.path)
        configuration.download.allowsPrivateNetwork = allowsPrivateNetwork
        preparer = try AttachmentPreparer(configuration, engine: try InProcessMediaEngine())
    }

    /// Prepares a playlist of the stream.
    func prepare(
        _ name: String = "list", hasRanges: Bool = true, _ change: (inout AttachmentRequest) -> Void = { _ in }
    ) async throws -> Manifest {
        try stream.serve(on: server, hasRanges: hasRanges)
        return await prepare(url: server.url("/\(name).m3u8"), change)
    }

    func prepare(url: String, _ change: (inout AttachmentRequest) -> Void = { _ in }) async -> Manifest {
        var request = AttachmentRequest(source: url)
        request.id = "clip"
        request.budgetSeconds = 120
        change(&request)
        return await preparer.prepare(request)
    }

    /// Serves a text and prepares it.
    func prepare(text: String, _ change: (inout AttachmentRequest) -> Void = { _ in }) async -> Manifest {
        server.serve("/text.m3u8", .body(Data(text.utf8), type: "application/vnd.apple.mpegurl"))
        return await prepare(url: server.url("/text.m3u8"), change)
    }

    /// The path of a file of the result.
    func path(_ manifest: Manifest) throws -> String {
        output.path("clip/\(try #require(manifest.attachment?.file, "\(manifest.error?.message ?? "")"))")
    }

    func frames(_ manifest: Manifest) throws -> [NumberedFrame] { try NumberedFrame.all(of: path(manifest)) }

    /// Body bytes that were downloaded.
    var receivedBytes: Int { preparer.statistics.downloadedBytes }

    func shutdown() async { await preparer.shutdown() }

    /// What is left in the output folder.
    var leftovers: [String] { (try? output.contents()) ?? [] }
}

/// Expects these numbers at 25 frames/s, beginning at 0.
func expectFrames(
    _ frames: [NumberedFrame], _ numbers: [Int], sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(frames.map(\.number) == numbers, sourceLocation: sourceLocation)
    let late = frames.enumerated().filter { abs($0.element.seconds - Double($0.offset) / 25) > 0.0015 }
    #expect(late.isEmpty, "\(late.prefix(5))", sourceLocation: sourceLocation)
}
