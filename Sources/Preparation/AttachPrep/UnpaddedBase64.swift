import FoundationEssentials

/// URL-safe base64 without padding (RFC 4648, 5), as in tokens of URLs.
package enum UnpaddedBase64 {
    /// The URL-safe text of bytes.
    package static func urlSafe(_ bytes: [UInt8]) -> String {
        let text = String(Data(bytes).base64EncodedString().prefix { $0 != "=" })
        return text.replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Decodes strictly: no padding, no other characters, no bits after the last byte.
    package static func bytes(_ text: String, count: Int) -> [UInt8]? {
        guard text.utf8.count == (count * 4 + 2) / 3, !text.utf8.contains(UInt8(ascii: "=")) else { return nil }
        guard !text.contains("+"), !text.contains("/") else { return nil }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: padded), data.count == count, data.base64EncodedString() == padded
        else { return nil }
        return [UInt8](data)
    }
}
