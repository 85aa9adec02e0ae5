/// Percent-encoding of URLs and forms (RFC 3986, 2.1).
package enum PercentEncoding {
    /// Encodes all bytes except letters, digits, "-._~", and those of `kept`.
    package static func encoded(_ text: String, keeping kept: String = "") -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) || kept.utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += "%".utf8
                bytes += [byte].hexadecimal.uppercased().utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes a text; nil if two digits do not follow a percent sign, or if the result is not UTF-8.
    package static func decoded(_ text: some StringProtocol) -> String? {
        bytes(text, keepsMalformed: false).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Decodes a text, and keeps percent signs that two digits do not follow.
    package static func decodedLeniently(_ text: String) -> String {
        String(decoding: bytes(text, keepsMalformed: true) ?? [], as: UTF8.self)
    }

    private static func bytes(_ text: some StringProtocol, keepsMalformed: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else if keepsMalformed {
                bytes.append(byte)
            } else {
                return nil
            }
        }
        return bytes
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~".utf8.contains(byte)
        }
    }
}
