import NIOCore
import RichPush
import SafeArithmetic

/// What a connection is held to.
struct ConnectionRules: Sendable {
    var idle = TimeAmount.seconds(60)
    // Bounded: a constant of ours.
    var linger = TimeAmount.milliseconds(Int64(clamping: Limits.lingerSeconds * 1000.0))
    var bodyBytesPerSecondMin = Limits.bodyBytesPerSecondMin

    /// Whom a connection from an address is counted for; nil for nobody.
    var client: @Sendable (String?) -> String? = ClientAddress.counted

    init(_ settings: ServiceSettings) {
        // Bounded: a setting of ours.
        idle = .milliseconds(Int64(clamping: settings.idleConnectionSecondsMax * 1000.0))
        if settings.countsEveryAddress { client = { $0 } }
    }

    /// Between looks at a connection: often enough that it is closed not much too late.
    // Bounded: by the two constants.
    var tick: TimeAmount { .nanoseconds(min(max(idle.nanoseconds / 8, 20_000_000), 5_000_000_000)) }

    /// Whether a body has come too slowly.
    func isTooSlow(bytes: Int, since start: NIODeadline, now: NIODeadline) -> Bool {
        let allowed = Double(idle.nanoseconds) / 1e9 + Double(bytes) / bodyBytesPerSecondMin
        return Double((now - start).nanoseconds) / 1e9 > allowed
    }
}
