import Foundation
import RichPush
import RichPushReceipts

#if canImport(Network)
    import Network
#endif

/// How the device is connected when a notification arrives.
enum NetworkPath {
    /// Returns the network within `deviceNetworkSeconds`; without an answer of the system, it counts as unlimited.
    static func current() async -> FetchNetwork {
        #if canImport(Network)
            let monitor = NWPathMonitor()
            defer { monitor.cancel() }
            return await withCheckedContinuation { continuation in
                let waiting = Locked<CheckedContinuation<FetchNetwork, Never>?>(continuation)
                let finish: @Sendable (FetchNetwork) -> Void = { network in
                    let continuation = waiting.change { waiting in
                        defer { waiting = nil }
                        return waiting
                    }
                    continuation?.resume(returning: network)
                }
                monitor.pathUpdateHandler = { path in
                    finish(FetchNetwork(isExpensive: path.isExpensive, isConstrained: path.isConstrained))
                }
                monitor.start(queue: .global())
                DispatchQueue.global().asyncAfter(deadline: .now() + Limits.deviceNetworkSeconds) {
                    finish(FetchNetwork())
                }
            }
        #else
            return FetchNetwork()
        #endif
    }
}

extension Limits {
    /// The system reports the path at once; without it, no notification waits longer.
    static let deviceNetworkSeconds = 0.3
}
