import MediaEngine
import RichPush

/// What a number of an answer counts, and what it can be at all. The child's own border (`InspectedMedia.withinReason`)
/// keeps to the same ranges, so that what is outside of them was never said by a child that is well.
enum MediaQuantity {
    /// Pixels of a side: two of them and a count of frames fit an integer.
    case side
    /// Frames, channels, samples and bits a second, milliseconds.
    case count
    /// Seconds that something lasts.
    case duration
    /// Seconds of a moment, before a movie's beginning too: 600ths of them fit an integer.
    case moment
    /// A part of a whole.
    case share
    /// One length over another, pictures a second.
    case ratio
    /// Entries of a list.
    case list

    var range: ClosedRange<Double> {
        switch self {
        case .side: 1...10_000_000
        case .count: 0...2_147_483_647
        case .duration: 0...InspectedMedia.secondsMax
        case .moment: -InspectedMedia.secondsMax...InspectedMedia.secondsMax
        case .share: 0...1
        case .ratio: 0...1e9
        case .list: 0...Double(Limits.childListCountMax)
        }
    }
}
