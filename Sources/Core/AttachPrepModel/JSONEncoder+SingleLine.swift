package import FoundationEssentials

extension JSONEncoder {
    /// Encodes one line with sorted keys and unescaped slashes.
    package static var singleLine: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    package func text(_ value: some Encodable) throws -> String {
        String(decoding: try encode(value), as: UTF8.self)
    }
}
