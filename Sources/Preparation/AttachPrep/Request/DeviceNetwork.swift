public import AttachPrepModel
import MediaTypes
import SafeArithmetic

/// The network a phone is expected on: a profile, or a bit rate.
public enum DeviceNetwork: Sendable, Hashable {
    case profile(NetworkProfile)
    /// Kilobits per second. The round trip time is assumed to be that of 3G, the slowest profile.
    case kilobits(Int)

    /// Parses `3g`, `lte`, `wifi`, or kilobits per second.
    ///
    /// - Throws: `request.invalid`.
    public init(text: String) throws {
        if let profile = NetworkProfile(rawValue: text.lowercased()) {
            self = .profile(profile)
        } else if let rate = Int(text), Self.kilobitsRange.contains(rate) {
            self = .kilobits(rate)
        } else {
            throw AttachPrepError(
                .requestInvalid,
                "The network \"\(MessageText.excerpt(text, bytesMax: 80))\" is unknown; give 3g, lte, wifi or "
                    + "kilobits per second from "
                    + "\(Self.kilobitsRange.lowerBound) to \(Self.kilobitsRange.upperBound).")
        }
    }

    /// From a dial-up modem to 10 Gbit/s.
    fileprivate static let kilobitsRange = 10...10_000_000

    /// The largest file in decimal bytes that a phone can fetch in that many seconds; 0 or less when it can fetch none.
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

    /// The text from which it can be parsed.
    public var text: String {
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
            try self.init(text: "\(rate)")
        } else {
            guard let text = try? value.decode(String.self) else {
                throw DecodingError.expected("3g, lte, wifi or kilobits per second", at: decoder.codingPath)
            }
            try self.init(text: text)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(text)
    }
}

extension OptionForm where Value == DeviceNetwork {
    /// A name, or kilobits per second.
    static var network: OptionForm {
        let names = NetworkProfile.allCases.map(\.rawValue)
        let range = DeviceNetwork.kilobitsRange
        let listed = names.map { "\"\($0)\"" }.joined(separator: ", ")
        return OptionForm(
            schema: #"""
                "anyOf": [
                  {"enum": [\#(listed), null]},
                  {"type": "integer", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound)},
                  {"type": "string", "pattern": "^[1-9][0-9]{1,6}$"}
                ]
                """#,
            examples: names + ["\(range.lowerBound)", "\(range.upperBound)"],
            parse: { try? DeviceNetwork(text: $0) }, text: { $0.text })
    }
}
