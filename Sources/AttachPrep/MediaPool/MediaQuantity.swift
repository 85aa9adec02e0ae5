import RichPush

/// What a number of an answer counts, and what it can be at all: wide, but safe to multiply and to round.
enum MediaQuantity {
    /// Pixels of a side: two of them and a count of frames fit an integer.
    case side
    /// Frames, channels, samples a second, milliseconds.
    case count
    /// Seconds, before a movie's beginning too: 600ths of them fit an integer.
    case seconds
    /// One length over another, pictures a second.
    case ratio
    /// Entries of a list.
    case list

    var range: ClosedRange<Double> {
        switch self {
        case .side: 1...10_000_000
        case .count: 0...2_147_483_647
        case .seconds: -1e12...1e12
        case .ratio: 0...1e9
        case .list: 0...Double(Limits.childListCountMax)
        }
    }
}
