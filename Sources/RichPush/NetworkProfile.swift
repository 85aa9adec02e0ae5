internal import SafeArithmetic

/// A network a phone may be on, as one table used everywhere.
public enum NetworkProfile: String, Codable, Sendable, Hashable, CaseIterable {
    case threeG = "3g"
    case lte
    case wifi

    /// Bits a second.
    public var bitsPerSecond: Double {
        switch self {
        case .threeG: 1_600_000
        case .lte: 12_000_000
        case .wifi: 40_000_000
        }
    }

    /// Seconds from a packet to its answer.
    public var roundTripSeconds: Double {
        switch self {
        case .threeG: 0.150
        case .lte: 0.070
        case .wifi: 0.020
        }
    }

    /// How long a phone needs to fetch so many bytes: two round trips, connection and request, then the body.
    public func fetchSeconds(bytes: Int) -> Double {
        // Bounded: floating point, which does not trap.
        let seconds = 2 * roundTripSeconds + Double(bytes) * 8 / bitsPerSecond
        // Bounded: floating point, which does not trap.
        return (seconds * 100).rounded() / 100
    }

    /// The largest body that arrives within so many seconds after two round trips; not over 0 when none can.
    public static func bytesMax(within seconds: Double, bitsPerSecond: Double, roundTripSeconds: Double) -> Int {
        // Bounded: floating point, which does not trap.
        Int(clamping: (seconds - 2 * roundTripSeconds) * bitsPerSecond / 8)
    }

    /// The expected fetch time on each profile, in seconds.
    public static func deviceFetch(bytes: Int) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0.fetchSeconds(bytes: bytes)) })
    }
}
