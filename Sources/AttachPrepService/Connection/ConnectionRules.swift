import NIOCore
import RichPush
import SafeArithmetic

/// What a connection is held to.
struct ConnectionRules: Sendable {
    var idle = TimeAmount.seconds(60)
    var linger = TimeAmount.milliseconds(Int64(Limits.lingerSeconds * 1000))
    var bodyBytesPerSecondMin = Limits.bodyBytesPerSecondMin

    /// Whom a connection from an address is counted for; nil for nobody.
    var client: @Sendable (String?) -> String? = ClientAddress.counted

    init(_ settings: ServiceSettings) {
        idle = .milliseconds(Int64(clamping: settings.idleConnectionSecondsMax * 1000))
        if settings.countsEveryAddress { client = { $0 } }
    }

    /// Between looks at a connection: often enough that it is closed not much too late.
    var tick: TimeAmount { .nanoseconds(min(max(idle.nanoseconds / 8, 20_000_000), 5_000_000_000)) }

    /// Whether a body has come too slowly.
    func isTooSlow(bytes: Int, since start: NIODeadline, now: NIODeadline) -> Bool {
        let allowed = Double(idle.nanoseconds) / 1e9 + Double(bytes) / bodyBytesPerSecondMin
        return Double((now - start).nanoseconds) / 1e9 > allowed
    }
}
