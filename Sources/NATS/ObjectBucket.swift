internal import FoundationEssentials
internal import SafeArithmetic

/// An object bucket on the servers: named objects of any length, stored in chunks.
///
/// The layout is that of the NATS tools (ADR-20): the stream `OBJ_<bucket>`, an object's chunks on
/// `$O.<bucket>.C.<nuid>`, and its information on `$O.<bucket>.M.<base64 of its name>`.
package struct ObjectBucket: Sendable {
    package let name: String
    let stream: JetStream

    /// Opens a bucket, creating it if it does not exist.
    ///
    /// - Throws: `NATSError`, `StreamMismatchError`.
    package static func open(_ configuration: BucketConfiguration, in stream: JetStream) async throws -> ObjectBucket {
        try await stream.ensure(configuration.objectStream)
        return ObjectBucket(name: configuration.name, stream: stream)
    }

    var streamName: String { "OBJ_\(name)" }

    func chunkSubject(_ nuid: String) -> String { "$O.\(name).C.\(nuid)" }

    private func nameSubject(_ object: String) -> String { "$O.\(name).M.\(URLSafeBase64.text(Array(object.utf8)))" }

    /// The information about an object, from the stream's leader; nil when it does not exist or was removed.
    ///
    /// - Throws: `NATSError`.
    package func information(_ name: String) async throws -> ObjectInfo? {
        let subject = nameSubject(name)
        guard let found = try await stream.last(on: subject, of: streamName) else { return nil }
        do {
            let object = try JSONDecoder().decode(ObjectInfo.self, from: Data(found.bytes))
            return object.deleted == true ? nil : object
        } catch {
            throw NATSError.unreadable(subject: subject, text: "\(error)")
        }
    }

    // MARK: Changes

    /// Returns exactly `count` bytes from `offset` on.
    package typealias ChunkReader = (_ offset: Int, _ count: Int) async throws -> [UInt8]

    /// Stores an object, replacing one of the same name. It becomes visible when all chunks are stored.
    ///
    /// - Parameters:
    ///   - bytes: the object's length in bytes.
    ///   - sha256: its SHA-256 as 64 hexadecimal digits.
    ///   - metadata: stored with the object's information.
    ///   - readChunk: called for one chunk after the other.
    /// - Throws: `NATSError` and the errors of `readChunk`. The chunks stored so far are then removed, if the servers
    ///   can be reached.
    @discardableResult
    package func put(
        _ name: String, bytes: Int, digest sha256: String, metadata: [String: String]? = nil, readChunk: ChunkReader
    ) async throws -> ObjectInfo {
        let former = try await information(name)
        let chunkBytes = max(1, min(Self.chunkBytesMax, stream.connection.messageBytesMax))
        let object = ObjectInfo(
            name: name, bucket: self.name, nuid: Self.nuid(), size: bytes,
            chunks: bytes.adding(clamping: chunkBytes - 1) / chunkBytes, digest: ObjectDigest.text(sha256),
            metadata: metadata,
            options: ObjectInfo.Options(max_chunk_size: chunkBytes))
        do {
            try await putChunks(object, of: chunkBytes, readChunk)
        } catch {
            try? await stream.purge(streamName, subject: chunkSubject(object.nuid))
            throw error
        }
        // If this fails, the chunks are kept: the answer may have been lost and the object be visible.
        try await stream.publish(
            OutgoingMessage(
                nameSubject(name), Array(try JSONEncoder().encode(object)), headers: [("Nats-Rollup", "sub")]))
        if let former { try? await stream.purge(streamName, subject: chunkSubject(former.nuid)) }
        return object
    }

    private func putChunks(_ object: ObjectInfo, of chunkBytes: Int, _ readChunk: ChunkReader) async throws {
        let subject = chunkSubject(object.nuid)
        for first in stride(from: 0, to: object.chunks, by: Self.windowCount) {
            var messages: [OutgoingMessage] = []
            for chunk in first..<min(first + Self.windowCount, object.chunks) {
                let offset = chunk.multiplied(clamping: chunkBytes)
                let count = min(chunkBytes, object.size.subtracting(clamping: offset))
                let piece = try await readChunk(offset, count)
                precondition(piece.count == count, "the chunk reader returns the requested number of bytes")
                messages.append(OutgoingMessage(subject, piece))
            }
            for answer in await stream.publishAll(messages) { _ = try answer.get() }
        }
    }

    /// 128 KiB, as in the NATS tools; less for servers with a lower message limit.
    private static let chunkBytesMax = 131_072
    /// The number of chunks in flight, to or from the servers: 4 MiB saturate a network.
    static let windowCount = 32

    /// A random identifier of 22 characters, as the NATS tools make them.
    private static func nuid() -> String {
        let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        return String((0..<22).map { _ in letters[Int.random(in: letters.indices)] })
    }
}

extension ObjectBucket {
    /// Reads a whole object.
    ///
    /// - Parameter receive: called with one chunk after the other. An error that it throws ends the read.
    /// - Throws: `NATSError.unreadable` when chunks are missing, after the request timeout.
    package func get(_ object: ObjectInfo, _ receive: ([UInt8]) async throws -> Void) async throws {
        let size = try await object.chunks > 0 ? read(object, receive) : 0
        guard size == object.size else {
            throw incompleteObject(object, "\(size) of \(object.size) bytes")
        }
    }

    /// - Returns: The total length of the chunks in bytes.
    private func read(_ object: ObjectInfo, _ receive: ([UInt8]) async throws -> Void) async throws -> Int {
        let configuration = ConsumerConfiguration(stream: streamName, filter: chunkSubject(object.nuid))
        let (consumer, _) = try await stream.ephemeralConsumer(configuration)
        var (receivedChunks, size) = (0, 0)
        while receivedChunks < object.chunks {
            let end = min(receivedChunks.adding(clamping: Self.windowCount), object.chunks)
            let pull = consumer.pull(end.subtracting(clamping: receivedChunks), for: stream.connection.requestTimeout)
            // The server does not report that a pull is complete, so chunks are counted.
            while receivedChunks < end {
                guard let deliveries = try await pull.next() else {
                    throw incompleteObject(object, "\(receivedChunks) of \(object.chunks) chunks")
                }
                try deliveries.checkOrder(after: UInt64(clamping: receivedChunks))
                for delivery in deliveries {
                    try await receive(delivery.bytes)
                    size = size.adding(clamping: delivery.bytes.count)
                    // Stops at the announced length, so that a wrong one does not fill the disk.
                    guard size <= object.size else { throw incompleteObject(object, "more than \(object.size) bytes") }
                }
                receivedChunks = receivedChunks.adding(clamping: deliveries.count)
            }
        }
        return size
    }

    private func incompleteObject(_ object: ObjectInfo, _ text: String) -> NATSError {
        .unreadable(subject: chunkSubject(object.nuid), text: text)
    }
}

/// The information about an object, in the JSON of the NATS tools.
package struct ObjectInfo: Codable, Sendable, Hashable {
    package var name: String
    package var bucket: String
    /// The identifier of its chunks, new each time the object is stored.
    package var nuid: String
    /// The length in bytes.
    package var size: Int
    package var chunks: Int
    /// `SHA-256=` and the digest in base64; nil when it was stored without one.
    package var digest: String?
    package var metadata: [String: String]?
    package var options: Options?
    var deleted: Bool?

    package struct Options: Codable, Sendable, Hashable {
        /// The length of the chunks in bytes; the last one may be shorter.
        package var max_chunk_size: Int?
    }

    /// The SHA-256 of the object in lowercase hexadecimal; nil when it was stored without one.
    package var sha256: String? { digest.flatMap(ObjectDigest.sha256) }
}

/// Converts the SHA-256 of an object between hexadecimal and the base64 form of the NATS tools.
enum ObjectDigest {
    private static let prefix = "SHA-256="
    private static let bytesCount = 32

    /// The digest in the form of the NATS tools.
    ///
    /// - Parameter sha256: 64 hexadecimal digits.
    static func text(_ sha256: String) -> String {
        let digits = sha256.compactMap(\.hexDigitValue)
        precondition(digits.count == bytesCount * 2 && sha256.count == digits.count, "a SHA-256 has 64 digits")
        let bytes = (0..<bytesCount).map { UInt8(digits[$0 * 2] * 16 + digits[$0 * 2 + 1]) }
        return prefix + URLSafeBase64.text(bytes)
    }

    /// The digest in lowercase hexadecimal; nil for another algorithm or an invalid text.
    static func sha256(_ text: String) -> String? {
        guard text.hasPrefix(prefix), let bytes = URLSafeBase64.bytes(String(text.dropFirst(prefix.count))),
            bytes.count == bytesCount
        else { return nil }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Base64 with the URL- and subject-safe alphabet, padded: RFC 4648, section 5.
enum URLSafeBase64 {
    static func text(_ bytes: [UInt8]) -> String {
        String(
            Data(bytes).base64EncodedString().map { (letter: Character) -> Character in
                switch letter {
                case "+": "-"
                case "/": "_"
                default: letter
                }
            })
    }

    static func bytes(_ text: String) -> [UInt8]? {
        let usual = String(
            text.map { (letter: Character) -> Character in
                switch letter {
                case "-": "+"
                case "_": "/"
                default: letter
                }
            })
        return Data(base64Encoded: usual).map { Array($0) }
    }
}
