public import RichPush

/// The network a phone is expected on: one of the table, or a rate of the caller's.
public enum DeviceNetwork: Sendable, Hashable {
    case profile(NetworkProfile)
    /// Kilobits a second; its round trip is taken for 3G's, the slowest of the table.
    case kilobits(Int)

    /// `3g`, `lte`, `wifi`, or kilobits a second.
    ///
    /// - Throws: `request.invalid`.
    public init(word: String) throws {
        if let profile = NetworkProfile(rawValue: word.lowercased()) {
            self = .profile(profile)
        } else if let rate = Int(word), Self.kilobitsRange.contains(rate) {
            self = .kilobits(rate)
        } else {
            throw AttachPrepError(
                .requestInvalid,
                "The network \"\(word)\" is not known; give 3g, lte, wifi or kilobits a second, from "
                    + "\(Self.kilobitsRange.lowerBound) to \(Self.kilobitsRange.upperBound).")
        }
    }

    /// From an old modem to ten gigabits.
    private static let kilobitsRange = 10...10_000_000

    /// The largest file that a phone on it can fetch in so many seconds; decimal bytes, not over 0 when none can.
    public func bytesMax(within seconds: Double) -> Int {
        switch self {
        case .profile(let profile):
            NetworkProfile.bytesMax(
                within: seconds, bitsPerSecond: profile.bitsPerSecond, roundTripSeconds: profile.roundTripSeconds)
        case .kilobits(let rate):
            NetworkProfile.bytesMax(
                within: seconds, bitsPerSecond: Double(rate) * 1000,
                roundTripSeconds: NetworkProfile.threeG.roundTripSeconds)
        }
    }

    /// As typed.
    public var word: String {
        switch self {
        case .profile(let profile): profile.rawValue
        case .kilobits(let rate): "\(rate)"
        }
    }
}

extension DeviceNetwork: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let rate = try? value.decode(Int.self) {
            try self.init(word: "\(rate)")
        } else {
            try self.init(word: value.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(word)
    }
}
