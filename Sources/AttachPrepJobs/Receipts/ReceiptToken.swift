internal import Crypto
public import RichPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The right to say that a payload arrived: its dispatch's name, signed, in 34 characters.
///
/// A version, 64 bits of name and 128 bits of HMAC-SHA256 over both, as base64 for URLs. What the name stands for is in
/// the store, which is asked only for names that were signed.
public struct ReceiptToken: Sendable, Hashable {
    public static let charactersCount = 34

    public let text: String

    public init(_ dispatch: DispatchID, key: ReceiptKey) {
        let content = [Self.version] + dispatch.bytes  // Bounded: lists, not numbers.
        text = Self.base64(content + Self.signature(of: content, key))  // Bounded: lists, not numbers.
    }

    /// The dispatch that a token names.
    ///
    /// - Throws: `request.unauthorized` for what was not signed with this key.
    public static func dispatch(of text: String, key: ReceiptKey) throws(AttachPrepError) -> DispatchID {
        guard let bytes = bytes(of: text), bytes[0] == version else { throw refusal }
        let content = Array(bytes[..<contentCount])
        guard areEqual(bytes[contentCount...], signature(of: content, key)) else { throw refusal }
        return DispatchID(bytes: content.dropFirst())
    }

    private static let version: UInt8 = 1
    private static let contentCount = 9
    private static let signatureCount = 16
    /// So that no other signature with this key, of another kind, is ever taken for one of these.
    private static let purpose = Array("attachprep receipt\0".utf8)

    private static var refusal: AttachPrepError {
        AttachPrepError(
            .requestUnauthorized, "The receipt's token is none that this service wrote; send the payload's own.")
    }

    private static func signature(of content: [UInt8], _ key: ReceiptKey) -> [UInt8] {
        Array(key.sign(purpose + content).prefix(signatureCount))
    }

    /// Takes as long wherever the difference is.
    private static func areEqual(_ one: ArraySlice<UInt8>, _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// RFC 4648, 5, without padding.
    private static func base64(_ bytes: [UInt8]) -> String {
        let text = Data(bytes).base64EncodedString().prefix { $0 != "=" }
        return String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// Nil for what is written in any other way than ours.
    private static func bytes(of text: String) -> [UInt8]? {
        guard text.utf8.count == charactersCount, text.utf8.allSatisfy({ $0 < 128 }) else { return nil }
        let plain = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        // Bounded: counts of what is in memory.
        guard let data = Data(base64Encoded: String(plain) + "=="), data.count == contentCount + signatureCount
        else { return nil }
        let bytes = Array(data)
        return base64(bytes) == text ? bytes : nil
    }
}
