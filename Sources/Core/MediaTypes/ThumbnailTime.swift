import SafeArithmetic

/// A time in a movie, in the dictionary form of a CMTime that iOS expects in the attachment options.
///
/// Source: Apple, `CMTimeCopyAsDictionary`; `docs/reference/apple-attachment-rules.md` 1.4.
public struct MovieTime: Codable, Sendable, Hashable {
    /// The time in units of 1/`timescale` second.
    public let value: Int64
    /// Units per second.
    public let timescale: Int32
    public let epoch: Int64
    /// CMTime flags; 1 is `kCMTimeFlags_Valid`.
    public let flags: UInt32

    /// Creates a time, rounded up to the next tick so that it never falls before the intended frame.
    ///
    /// - Parameters:
    ///   - seconds: The time from the beginning.
    ///   - end: Duration of the movie in seconds, which a time before it is not rounded up to; nil if unknown.
    public init(seconds: Double, before end: Double? = nil) {
        timescale = Limits.movieTimescale
        // Binary rounding error must not add a tick: 1.1 s is computed as 660.0000000000001 ticks.
        func tick(_ seconds: Double) -> Int64 {
            Int64(clamping: (seconds * Double(Limits.movieTimescale) - 1e-6).rounded(.up))
        }
        let last = end.flatMap { seconds < $0 ? tick($0).subtracting(clamping: 1) : nil } ?? .max
        value = min(tick(seconds), last)
        epoch = 0
        flags = 1
    }

    /// Creates a time from the four members of a CMTime dictionary.
    package init(value: Int64, timescale: Int32, epoch: Int64, flags: UInt32) {
        self.value = value
        self.timescale = timescale
        self.epoch = epoch
        self.flags = flags
    }

    /// The time in seconds.
    public var seconds: Double { Double(value) / Double(timescale) }
}

/// The frame of a movie or an animated image that the thumbnail shows.
public enum ThumbnailTime: Sendable, Hashable {
    /// A time in a movie.
    case movie(MovieTime)
    /// A frame of an animated image, from 0.
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

extension Limits {
    /// Ticks per second of a movie's CMTime: 600 is Apple's usual timescale, a multiple of 24, 25 and 30.
    package static let movieTimescale: Int32 = 600
}
