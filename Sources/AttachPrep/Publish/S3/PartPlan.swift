import RichPush

/// In how many pieces a file goes up, and which. Pure.
struct PartPlan: Sendable, Hashable {
    struct Part: Sendable, Hashable {
        /// From 1.
        let number: Int
        let offset: Int
        let bytes: Int
    }

    /// Empty for a file that goes up as one.
    let parts: [Part]

    init(bytes: Int, partBytes: Int = Limits.publishPartBytes) {
        guard bytes > partBytes else {
            parts = []
            return
        }
        parts = stride(from: 0, to: bytes, by: partBytes).enumerated().map { index, offset in
            // Bounded: below the size of a file on disk.
            Part(number: index + 1, offset: offset, bytes: min(partBytes, bytes - offset))
        }
    }

    /// What completes them: each with the tag that the endpoint gave it.
    static func completion(_ tags: [Int: String]) -> [UInt8] {
        let rows = tags.sorted { $0.key < $1.key }.map { number, tag in
            "<Part><PartNumber>\(number)</PartNumber><ETag>\(XMLText.escaped(tag))</ETag></Part>"
        }
        return Array("<CompleteMultipartUpload>\(rows.joined())</CompleteMultipartUpload>".utf8)
    }
}
