/// Some campaigns of many.
public struct CampaignPage: Sendable, Hashable {
    public var campaigns: [Campaign]
    /// Where the next page begins; nil on the last one.
    public var next: CampaignCursor?

    public init(campaigns: [Campaign], next: CampaignCursor?) {
        self.campaigns = campaigns
        self.next = next
    }
}

/// A place in the list of campaigns.
public struct CampaignCursor: Sendable, Hashable {
    let number: Int64

    /// Nil for what no page gave.
    public init?(_ text: String) {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy("0123456789".utf8.contains),
            let number = Int64(text)  // Bounded: text, which is nil where it is no number.
        else { return nil }
        self.number = number
    }

    init(number: Int64) {
        self.number = number
    }

    public var text: String { "\(number)" }
}

extension CampaignPage: Codable {
    private enum CodingKeys: String, CodingKey {
        case campaigns, next
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        campaigns = try values.decode([Campaign].self, forKey: .campaigns)
        next = try values.decodeIfPresent(String.self, forKey: .next).flatMap { CampaignCursor($0) }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(campaigns, forKey: .campaigns)
        try values.encode(next?.text, forKey: .next)
    }
}
