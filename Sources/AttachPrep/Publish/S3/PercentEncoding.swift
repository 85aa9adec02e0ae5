/// Text in an address as S3 signs it: every byte but letters, digits and "-._~" as %XX. Pure.
enum PercentEncoding {
    static func of(_ text: String) -> String { encoded(text, keeping: []) }

    /// The slashes between the parts of a key stay.
    static func ofPath(_ key: String) -> String { encoded(key, keeping: [UInt8(ascii: "/")]) }

    private static func encoded(_ text: String, keeping kept: [UInt8]) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) || kept.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += "%".utf8
                bytes += [byte].hexadecimal.uppercased().utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~".utf8.contains(byte)
        }
    }
}
