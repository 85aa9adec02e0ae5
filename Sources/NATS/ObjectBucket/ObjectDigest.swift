/// The SHA-256 of an object: hexadecimal with us, base64 with NATS' own tools.
enum ObjectDigest {
    private static let prefix = "SHA-256="
    private static let bytesCount = 32

    /// - Parameter sha256: 64 digits.
    static func text(_ sha256: String) -> String {
        let digits = sha256.compactMap(\.hexDigitValue)
        // Bounded: 64 digits, as was asked for.
        precondition(digits.count == bytesCount * 2 && sha256.count == digits.count, "a SHA-256 has 64 digits")
        // Bounded: 64 digits, as was asked for.
        let bytes = (0..<bytesCount).map { UInt8(digits[$0 * 2] * 16 + digits[$0 * 2 + 1]) }
        return prefix + AddressBase64.text(bytes)  // Bounded: texts, not numbers.
    }

    /// Lower-case hexadecimal; nil for another kind of digest.
    static func sha256(_ text: String) -> String? {
        guard text.hasPrefix(prefix), let bytes = AddressBase64.bytes(String(text.dropFirst(prefix.count))),
            bytes.count == bytesCount
        else { return nil }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
