import RichPush

/// What a caller calls the notifications that are counted together: 1 to 64 letters, digits, dots, dashes and
/// underscores, beginning with a letter or a digit.
public struct CampaignName: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// The one of payloads that name none.
    public static let standard = CampaignName(known: "default")

    /// Nil for what is no such name.
    public init?(_ text: String) {
        let isPlain = { (byte: UInt8) in Self.alphanumeric.contains(byte) }
        guard let first = text.utf8.first, isPlain(first), text.utf8.count <= Limits.campaignNameCharactersMax,
            text.utf8.allSatisfy({ isPlain($0) || "._-".utf8.contains($0) })
        else { return nil }
        self.text = text
    }

    /// What a caller wrote; nothing is the standard one.
    ///
    /// - Throws: `request.invalid`.
    public init(naming text: String?) throws {
        guard let text else {
            self = .standard
            return
        }
        guard let name = CampaignName(text) else {
            throw AttachPrepError(
                .requestInvalid,
                "A campaign's name has 1 to \(Limits.campaignNameCharactersMax) letters, digits, dots, dashes and "
                    + "underscores, and begins with a letter or a digit.")
        }
        self = name
    }

    private init(known text: String) {
        self.text = text
    }

    private static let alphanumeric = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    public var description: String { text }
}
