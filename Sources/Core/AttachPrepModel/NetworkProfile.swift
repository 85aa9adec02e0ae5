package import MediaTypes
internal import SafeArithmetic

/// Bandwidth and latency of a typical phone connection, shared by limits, estimates and benchmarks.
public enum NetworkProfile: String, Codable, Sendable, Hashable, CaseIterable {
    case threeG = "3g"
    case lte
    case wifi

    /// Bandwidth in bits per second.
    public var bitsPerSecond: Double {
        switch self {
        case .threeG: 1_600_000
        case .lte: 12_000_000
        case .wifi: 40_000_000
        }
    }

    /// Round-trip time in seconds.
    public var roundTripSeconds: Double {
        switch self {
        case .threeG: 0.150
        case .lte: 0.070
        case .wifi: 0.020
        }
    }

    /// Expected seconds to fetch `bytes`: two round trips (connection, request) plus the body, rounded to 0.01 s.
    public func fetchSeconds(bytes: Int) -> Double {
        let seconds = 2 * roundTripSeconds + Double(bytes) * 8 / bitsPerSecond
        return (seconds * 100).rounded() / 100
    }

    /// The largest body, in bytes, that arrives within `seconds` including two round trips; 0 or less when none does.
    public static func bytesMax(within seconds: Double, bitsPerSecond: Double, roundTripSeconds: Double) -> Int {
        Int(clamping: (seconds - 2 * roundTripSeconds) * bitsPerSecond / 8)
    }

    /// The expected fetch time in seconds, by profile name.
    public static func deviceFetch(bytes: Int) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0.fetchSeconds(bytes: bytes)) })
    }
}

extension Limits {
    /// The time that a service extension has in practice: 7 to 8 s were measured
    /// (`docs/reference/apple-attachment-rules.md` 1.7).
    package static let displayDeviceBudgetSeconds = 8.0
}
