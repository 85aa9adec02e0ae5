import SafeArithmetic

/// A movie's time as iOS wants it in the options: a CMTime in dictionary form.
///
/// Source: Apple, `CMTimeCopyAsDictionary`; `apple-attachments.md` 1.4.
public struct MovieTime: Codable, Sendable, Hashable {
    /// Ticks of `timescale`.
    public let value: Int64
    /// Ticks a second.
    public let timescale: Int32
    public let epoch: Int64
    /// 1 is `kCMTimeFlags_Valid`.
    public let flags: UInt32

    /// Rounds up to the next tick, so that the time never falls before the frame that was meant.
    public init(seconds: Double) {
        timescale = Limits.movieTimescale
        // A time that is a whole number of ticks in decimals is not in binary: 1.1 s is 660.0000000000001 ticks.
        value = Int64(clamping: (seconds * Double(Limits.movieTimescale) - 1e-6).rounded(.up))
        epoch = 0
        flags = 1
    }

    /// As it is written somewhere.
    init(value: Int64, timescale: Int32, epoch: Int64, flags: UInt32) {
        self.value = value
        self.timescale = timescale
        self.epoch = epoch
        self.flags = flags
    }

    /// The time in seconds.
    public var seconds: Double { Double(value) / Double(timescale) }
}

/// Which picture of a moving attachment the thumbnail shows.
public enum ThumbnailTime: Sendable, Hashable {
    /// A movie's.
    case movie(MovieTime)
    /// An animated image's frame, from 0.
    case frame(Int)
}

extension ThumbnailTime: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let frame = try? value.decode(Int.self) {
            self = .frame(frame)
        } else {
            self = .movie(try value.decode(MovieTime.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .movie(let time): try value.encode(time)
        case .frame(let number): try value.encode(number)
        }
    }
}
