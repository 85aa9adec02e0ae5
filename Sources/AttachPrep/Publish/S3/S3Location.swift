public import RichPush

/// `s3://bucket/prefix`: below which keys results stand. Taken as written: nothing in it is percent-decoded.
public struct S3Location: Sendable, Hashable {
    public let bucket: String
    /// Without slashes at its ends; empty for the whole bucket.
    public let prefix: String

    /// - Throws: `request.invalid`, with what is wrong.
    public init(_ text: String) throws(AttachPrepError) {
        guard text.lowercased().hasPrefix("s3://") else { throw Self.invalid("it begins with s3://") }
        let rest = text.dropFirst("s3://".count)
        let bucket = String(rest.prefix { $0 != "/" })
        guard 3...255 ~= bucket.utf8.count, bucket.utf8.allSatisfy(Self.isOfName) else {
            throw Self.invalid("a bucket's name has 3 to 255 letters, digits, dots and hyphens")
        }
        var prefix = rest.dropFirst(bucket.count)
        while prefix.first == "/" { prefix.removeFirst() }
        while prefix.last == "/" { prefix.removeLast() }
        try Self.check(prefix)
        self.bucket = bucket
        self.prefix = String(prefix)
    }

    /// The key of a result's file.
    func key(of file: String, in result: String) -> String {
        prefix.isEmpty ? "\(result)/\(file)" : "\(prefix)/\(result)/\(file)"
    }

    private static func check(_ prefix: Substring) throws(AttachPrepError) {
        guard prefix.utf8.count <= Limits.publishPrefixBytesMax else {
            throw invalid("a prefix has at most \(Limits.publishPrefixBytesMax) bytes")
        }
        guard prefix.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw invalid("a prefix has no control characters")
        }
        let parts = prefix.isEmpty ? [] : prefix.split(separator: "/", omittingEmptySubsequences: false)
        // Everybody on the way would shorten such a path, and sign or serve another key.
        guard !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            throw invalid("no part of a prefix is empty, . or ..")
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: ".-_".utf8.contains(byte)
        }
    }

    private static func invalid(_ rule: String) -> AttachPrepError {
        AttachPrepError(.requestInvalid, "The S3 location is not of the form s3://bucket/prefix: \(rule).")
    }
}
