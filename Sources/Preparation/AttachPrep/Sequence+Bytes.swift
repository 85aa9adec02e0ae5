extension Sequence<UInt8> {
    /// The bytes in lowercase hexadecimal.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension Collection<UInt8> {
    /// Whether the bytes are those of a secret; takes as long wherever they differ.
    package func equalsInConstantTime(_ secret: [UInt8]) -> Bool {
        guard count == secret.count else { return false }
        return zip(self, secret).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
