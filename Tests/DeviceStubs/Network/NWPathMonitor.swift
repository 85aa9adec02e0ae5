// The part of Network that RichPushExtension uses, with the signatures of Apple's SDK.
public import Dispatch
import Foundation

public struct NWPath: Sendable {
    public let isExpensive: Bool
    public let isConstrained: Bool
}

/// Reports the path that SIMULATED_NETWORK describes: `expensive`, `constrained`, or `silent` for no report at all.
// Sendable as in the SDK; it is used from one thread.
public final class NWPathMonitor: @unchecked Sendable {
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?

    public init() {}

    public func start(queue: DispatchQueue) {
        let words = ProcessInfo.processInfo.environment["SIMULATED_NETWORK"] ?? ""
        guard words != "silent" else { return }
        let path = NWPath(isExpensive: words.contains("expensive"), isConstrained: words.contains("constrained"))
        queue.async { [pathUpdateHandler] in
            pathUpdateHandler?(path)
            pathUpdateHandler?(path)
        }
    }

    public func cancel() {}
}
