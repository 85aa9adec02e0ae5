internal import SafeArithmetic

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Objects of any length that the servers keep, each under a name, in chunks.
///
/// The layout is that of NATS' own tools (ADR-20): the stream `OBJ_<bucket>`, the chunks of one object on
/// `$O.<bucket>.C.<nuid>`, and what it is on `$O.<bucket>.M.<base64 of its name>`.
package struct ObjectBucket: Sendable {
    package let name: String
    let stream: JetStream

    /// Opens a bucket, which is made when it is not there.
    ///
    /// - Throws: `NATSError`, `StreamMismatch`.
    package static func open(_ shape: BucketShape, in stream: JetStream) async throws -> ObjectBucket {
        try await stream.ensure(shape.objectStream)
        return ObjectBucket(name: shape.name, stream: stream)
    }

    var streamName: String { "OBJ_\(name)" }

    func chunkSubject(_ nuid: String) -> String { "$O.\(name).C.\(nuid)" }

    private func nameSubject(_ object: String) -> String { "$O.\(name).M.\(AddressBase64.text(Array(object.utf8)))" }

    /// What its leader has under a name; nil for nothing, or for an object that was removed.
    package func information(_ name: String) async throws -> ObjectInformation? {
        let subject = nameSubject(name)
        guard let found = try await stream.last(on: subject, of: streamName) else { return nil }
        do {
            let object = try JSONDecoder().decode(ObjectInformation.self, from: Data(found.bytes))
            return object.deleted == true ? nil : object
        } catch {
            throw NATSError.unreadable(subject: subject, text: "\(error)")
        }
    }

    // MARK: Changes

    /// Gives exactly so many bytes from that place on.
    package typealias Pieces = (_ offset: Int, _ count: Int) async throws -> [UInt8]

    /// Puts an object in, in the place of one that has its name; nobody sees it before all of it is there.
    ///
    /// - Parameters:
    ///   - bytes: its length.
    ///   - sha256: of its bytes: 64 hexadecimal digits.
    ///   - metadata: what others find with it.
    ///   - pieces: asked for one chunk after the other.
    /// - Throws: `NATSError`, and what `pieces` throws: nothing is left of it then, if the servers can be reached.
    @discardableResult
    package func put(
        _ name: String, bytes: Int, digest sha256: String, metadata: [String: String]? = nil, pieces: Pieces
    ) async throws -> ObjectInformation {
        let former = try await information(name)
        let chunkBytes = max(1, min(Self.chunkBytesMax, stream.connection.messageBytesMax))
        let object = ObjectInformation(
            name: name, bucket: self.name, nuid: Self.nuid(), size: bytes,
            // Bounded: lengths and places within what is in memory.
            chunks: bytes.adding(clamping: chunkBytes - 1) / chunkBytes, digest: ObjectDigest.text(sha256),
            metadata: metadata,
            options: ObjectInformation.Options(max_chunk_size: chunkBytes))
        do {
            try await putChunks(object, of: chunkBytes, pieces)
        } catch {
            try? await stream.purge(streamName, subject: chunkSubject(object.nuid))
            throw error
        }
        // When its answer is lost, its name may lead to the chunks: then they stay for as long as it does.
        try await stream.publish(
            OutgoingMessage(
                nameSubject(name), Array(try JSONEncoder().encode(object)), headers: [("Nats-Rollup", "sub")]))
        if let former { try? await stream.purge(streamName, subject: chunkSubject(former.nuid)) }
        return object
    }

    private func putChunks(_ object: ObjectInformation, of chunkBytes: Int, _ pieces: Pieces) async throws {
        let subject = chunkSubject(object.nuid)
        for first in stride(from: 0, to: object.chunks, by: Self.windowCount) {
            var messages: [OutgoingMessage] = []
            // Bounded: lengths and places within what is in memory.
            for chunk in first..<min(first + Self.windowCount, object.chunks) {
                let offset = chunk.multiplied(clamping: chunkBytes)
                let count = min(chunkBytes, object.size.subtracting(clamping: offset))
                let piece = try await pieces(offset, count)
                precondition(piece.count == count, "a piece is as long as was asked for")
                messages.append(OutgoingMessage(subject, piece))
            }
            for answer in await stream.publishAll(messages) { _ = try answer.get() }
        }
    }

    /// As in NATS' own tools; servers that take only shorter messages get shorter chunks.
    private static let chunkBytesMax = 131_072
    /// Chunks under way at a time, to the servers or from them: 4 MB are enough to fill a network.
    static let windowCount = 32

    /// As random and as long as those of NATS' own tools.
    private static func nuid() -> String {
        let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        return String((0..<22).map { _ in letters[Int.random(in: letters.indices)] })
    }
}
