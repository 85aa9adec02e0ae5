#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The name of a webhook, constant over its retries: `msg_` and the digits of a UUID of version 7.
public struct WebhookID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// Nil for what is no such name.
    public init?(_ text: String) {
        let digits = text.dropFirst(4)
        guard text.hasPrefix("msg_"), digits.utf8.count == 32,
            digits.utf8.allSatisfy("0123456789abcdef".utf8.contains)
        else { return nil }
        self.text = text
    }

    public static func make(at date: Date = .now) -> WebhookID {
        WebhookID(known: "msg_" + JobID.make(at: date).text.filter { $0 != "-" })
    }

    private init(known text: String) {
        self.text = text
    }

    public var description: String { text }
}
