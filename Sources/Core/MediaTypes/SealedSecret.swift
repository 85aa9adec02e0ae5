#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The 32 random bytes that open the sealed files of one attachment, from which each file's key is derived.
///
/// Its JSON is their URL-safe base64 without padding. Descriptions do not show it, so that it cannot be logged.
public struct SealedSecret: Sendable, Hashable {
    /// Exactly `bytesCount`.
    public let bytes: Data

    public static let bytesCount = 32

    /// A secret that was never used before.
    public static func make() -> SealedSecret {
        var generator = SystemRandomNumberGenerator()
        return SealedSecret(known: Data((0..<bytesCount).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }

    private init(known bytes: Data) { self.bytes = bytes }

    /// Nil for another number of bytes.
    public init?(bytes: Data) {
        guard bytes.count == Self.bytesCount else { return nil }
        self.bytes = bytes
    }

    /// Nil unless the text is what `text` gives.
    public init?(text: String) {
        guard text.utf8.count == Self.textCharacters, text.utf8.allSatisfy({ $0 < 128 }) else { return nil }
        let standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        guard let bytes = Data(base64Encoded: String(standard) + "="), let secret = SealedSecret(bytes: bytes),
            secret.text.utf8.elementsEqual(text.utf8)
        else { return nil }
        self = secret
    }

    /// URL-safe base64 without padding, RFC 4648 section 5.
    public var text: String {
        String(
            bytes.base64EncodedString().compactMap { character -> Character? in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    private static let textCharacters = 43
}

extension SealedSecret: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard let secret = SealedSecret(text: try value.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not 32 bytes of URL-safe base64")
        }
        self = secret
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(text)
    }
}

extension SealedSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "REDACTED" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
