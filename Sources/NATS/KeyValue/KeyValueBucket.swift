#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keys and values that the servers keep; every change can name the revision that it changes.
///
/// The layout is that of NATS' own tools: the stream `KV_<name>`, a subject `$KV.<name>.<key>` for each key.
package struct KeyValueBucket: Sendable {
    package let name: String
    let stream: JetStream

    /// Opens a bucket, which is made when it is not there.
    ///
    /// - Throws: `NATSError`, `StreamMismatch`.
    package static func open(_ shape: BucketShape, in stream: JetStream) async throws -> KeyValueBucket {
        try await stream.ensure(shape.stream)
        return KeyValueBucket(name: shape.name, stream: stream)
    }

    private func subject(_ key: String) -> String { "$KV.\(name).\(key)" }

    var streamName: String { "KV_\(name)" }

    /// The key of a message of the bucket.
    func key(of subject: String) -> String { String(subject.dropFirst(name.utf8.count + 5)) }

    // MARK: Changes

    /// A change of one key.
    package struct Change: Sendable {
        package var key: String
        /// Nil removes it.
        package var value: [UInt8]?
        /// The revision that it must have now, 0 for none; nil for any.
        package var expected: UInt64?

        package init(_ key: String, _ value: [UInt8]?, after expected: UInt64? = nil) {
            self.key = key
            self.value = value
            self.expected = expected
        }
    }

    /// Makes a change; returns when it is kept.
    ///
    /// - Returns: the key's revision then; nil when it had another than the one expected.
    package func make(_ change: Change) async throws -> UInt64? {
        try await stream.publish(message(change))
    }

    /// Makes changes in their order, without waiting between them.
    package func makeAll(_ changes: [Change]) async -> [Result<UInt64?, any Error>] {
        await stream.publishAll(changes.map(message))
    }

    private func message(_ change: Change) -> OutgoingMessage {
        let headers = change.value == nil ? [("KV-Operation", "PURGE"), ("Nats-Rollup", "sub")] : []
        return OutgoingMessage(subject(change.key), change.value ?? [], headers: headers).after(change.expected)
    }

    /// Removes a key with all that tells that it was there: who follows the bucket hears nothing of it.
    package func erase(_ key: String) async throws {
        try await stream.purge(streamName, subject: subject(key))
    }

    private struct Forgotten: Encodable {
        var seq: UInt64
        var no_erase = true
    }

    /// Removes one revision, if it is still there, as if it had never been; does not wait for that.
    package func forget(_ revision: UInt64) {
        guard let body = try? JSONEncoder().encode(Forgotten(seq: revision)) else { return }
        stream.connection.publish(OutgoingMessage("$JS.API.STREAM.MSG.DELETE.\(streamName)", Array(body)))
    }

    // MARK: Looks

    /// What its leader has under a key, so never an older value than one that was read or written before; nil for
    /// nothing.
    package func entry(_ key: String) async throws -> KeyValueEntry? {
        guard let found = try await stream.last(on: subject(key), of: streamName) else { return nil }
        let isRemoved = found.headers.contains("KV-Operation")
        return KeyValueEntry(key: key, value: isRemoved ? nil : found.bytes, revision: found.number)
    }
}
