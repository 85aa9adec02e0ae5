internal import RichPush
internal import SafeArithmetic

/// How long the stages of one try may take; the defaults are the product's limits, tests shorten them.
package struct DownloadTimeouts: Sendable, Hashable {
    package var resolve: Duration = .seconds(Limits.resolveSecondsMax)
    package var connect: Duration = .seconds(Limits.connectSecondsMax)
    package var firstByte: Duration = .seconds(Limits.firstByteSecondsMax)
    package var stall: Duration = .seconds(Limits.stallSecondsMax)
    /// Fewer bytes in that time are silence.
    package var stallBytesMin = Limits.stallBytesMin
    /// The longest wait before the second try; doubled for each further one.
    package var backOff: Duration = .seconds(Limits.retryBackOffSeconds)

    package init() {}
}

extension Duration {
    /// As messages write it: "10 s", "0.25 s".
    var inSeconds: String {
        let seconds = self / .seconds(1)
        return seconds == seconds.rounded() ? "\(Int(clamping: seconds)) s" : "\(seconds) s"
    }

    var milliseconds: Double { self / .milliseconds(1) }
}
