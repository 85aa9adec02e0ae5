internal import Crypto
public import RichPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A secret that signs webhooks, as Standard Webhooks writes it: `whsec_` and base64 of 24 to 64 bytes.
///
/// It never shows itself: neither in errors nor when it is printed.
public struct WebhookSecret: Sendable, Hashable {
    private let bytes: [UInt8]

    /// - Parameter place: where it stands, for the message: "the 2nd secret of …".
    /// - Throws: `request.invalid`, which names the place and the fault.
    public init(_ text: String, at place: String) throws(AttachPrepError) {
        guard text.hasPrefix(Self.prefix) else {
            throw Self.fault(place, "does not begin with \(Self.prefix)")
        }
        guard let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))) else {
            throw Self.fault(place, "is not base64 behind \(Self.prefix)")
        }
        let sizes = Limits.webhookSecretBytesMin...Limits.webhookSecretBytesMax
        guard sizes.contains(data.count) else {
            throw Self.fault(
                place, "has \(data.count) bytes and not \(sizes.lowerBound) to \(sizes.upperBound)")
        }
        bytes = Array(data)
    }

    /// HMAC-SHA256 in base64.
    func sign(_ content: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: bytes))
        return Data(code).base64EncodedString()
    }

    private static let prefix = "whsec_"

    private static func fault(_ place: String, _ fault: String) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid,
            "\(place) \(fault); make one with: echo whsec_$(openssl rand -base64 32).")
    }
}

extension WebhookSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "whsec_REDACTED" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
