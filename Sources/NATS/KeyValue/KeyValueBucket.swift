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

    package var streamName: String { "KV_\(name)" }

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

    /// The message that makes a change, for who sends it with others; its number is the key's revision.
    ///
    /// A mark takes the value's place, because one message of a key is kept. It does not roll up its subject, as one
    /// with `PURGE` does: nats-server 2.9.10 moves whoever follows the bucket to the place of what was rolled up or
    /// purged, and what stands before it and was not given yet is never seen (nats-server#3838).
    package func message(_ change: Change) -> OutgoingMessage {
        let headers = change.value == nil ? [("KV-Operation", "DEL")] : []
        return OutgoingMessage(subject(change.key), change.value ?? [], headers: headers).after(change.expected)
    }

    /// Removes one revision, if it is still there, as if it had never been: who follows the bucket hears nothing of it.
    ///
    /// By its number, and not by its subject: see `message`.
    package func erase(_ revision: UInt64) async throws {
        try await stream.remove(revision, of: streamName)
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
