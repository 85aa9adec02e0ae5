/// How a device is connected.
public struct FetchNetwork: Sendable, Hashable {
    /// Cellular, or a personal hotspot.
    public var isExpensive: Bool
    /// Low Data Mode.
    public var isConstrained: Bool

    public init(isExpensive: Bool = false, isConstrained: Bool = false) {
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }

    /// Whether an attachment's smaller rendition is fetched first.
    public var prefersSmaller: Bool { isExpensive || isConstrained }
}

/// The largest files to fetch over a network, in bytes; nil for Apple's limits alone.
public struct FetchNetworkLimits: Sendable, Hashable {
    public var expensiveBytesMax: Int?
    public var constrainedBytesMax: Int?

    public init(expensiveBytesMax: Int? = nil, constrainedBytesMax: Int? = Limits.deviceLowDataBytesMax) {
        self.expensiveBytesMax = expensiveBytesMax
        self.constrainedBytesMax = constrainedBytesMax
    }

    /// The limit on a network; nil when there is none.
    public func bytesMax(on network: FetchNetwork) -> Int? {
        [network.isExpensive ? expensiveBytesMax : nil, network.isConstrained ? constrainedBytesMax : nil]
            .compactMap { $0 }.min()
    }
}

extension Limits {
    /// Larger files are not fetched in Low Data Mode: vendors recommend images of half this size.
    public static let deviceLowDataBytesMax = 1_000_000
}
