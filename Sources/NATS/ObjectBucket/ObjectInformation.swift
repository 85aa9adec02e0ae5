/// What a bucket says of an object, in the words of NATS' own tools.
package struct ObjectInformation: Codable, Sendable, Hashable {
    package var name: String
    package var bucket: String
    /// What its chunks are called: another one each time that it is put in.
    package var nuid: String
    /// In bytes.
    package var size: Int
    /// Their number.
    package var chunks: Int
    /// Nil when whoever put it in told none.
    package var digest: String?
    package var metadata: [String: String]?
    package var options: Options?
    /// Of one that was removed.
    var deleted: Bool?

    package struct Options: Codable, Sendable, Hashable {
        /// The length of its chunks in bytes; the last one may be shorter.
        package var max_chunk_size: Int?
    }

    /// SHA-256 of its bytes in lower-case hexadecimal; nil when whoever put it in told none.
    package var sha256: String? { digest.flatMap(ObjectDigest.sha256) }
}
