public import RichPush

/// What a phone's link is like: how fast, and how far away.
public struct LinkProfile: Sendable, Hashable {
    /// What `--network` calls it: `3g`, or `40000,20`.
    public let name: String
    /// Towards the phone.
    public let bitsPerSecond: Double
    /// From a packet to its answer.
    public let roundTripSeconds: Double

    /// Phones send at about a quarter of what they receive at; requests are short, so little depends on it.
    public static let uplinkShare = 0.25
    /// A gigabit link needs no shaping, and one kilobit is slower than any network in use.
    private static let kilobits = 1.0...1_000_000
    /// Twice the way to a geostationary satellite and back.
    private static let roundTripMilliseconds = 0.0...2_000

    /// From the phone.
    public var uplinkBitsPerSecond: Double { bitsPerSecond * Self.uplinkShare }

    /// What waits for the link at most, per connection: a fifth of a second of it, so that a source that is late for
    /// once does not leave the link idle.
    var readAheadBytes: Int { min(max(Int(bitsPerSecond / 8 * 0.2), 131_072), 4_194_304) }

    public init(_ network: NetworkProfile) {
        self.init(
            name: network.rawValue, bitsPerSecond: network.bitsPerSecond, roundTripSeconds: network.roundTripSeconds)
    }

    /// A network's name, or kilobits a second and milliseconds of a round trip: `3g`, `40000,20`; nil for what is none.
    public init?(_ text: String) {
        if let network = NetworkProfile(rawValue: text) {
            self.init(network)
            return
        }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan }
        guard numbers.count == 2, Self.kilobits.contains(numbers[0]),
            Self.roundTripMilliseconds.contains(numbers[1])
        else { return nil }
        self.init(name: text, bitsPerSecond: numbers[0] * 1_000, roundTripSeconds: numbers[1] / 1_000)
    }

    private init(name: String, bitsPerSecond: Double, roundTripSeconds: Double) {
        self.name = name
        self.bitsPerSecond = bitsPerSecond
        self.roundTripSeconds = roundTripSeconds
    }
}
