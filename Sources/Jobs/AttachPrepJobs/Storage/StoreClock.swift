public import FoundationEssentials
import Glibc
import SafeArithmetic

/// The two clocks of a store: the wall clock, which may jump, and the boot clock, which is steady.
public struct StoreClock: Sendable {
    public var wall: @Sendable () -> Date
    /// Milliseconds since the machine started, including sleep; they never decrease.
    public var steadyMilliseconds: @Sendable () -> Int64
    /// Identifies the start of the machine; steady times of different starts cannot be compared.
    public var bootID: String

    public init(
        wall: @escaping @Sendable () -> Date, steadyMilliseconds: @escaping @Sendable () -> Int64, bootID: String
    ) {
        self.wall = wall
        self.steadyMilliseconds = steadyMilliseconds
        self.bootID = bootID
    }

    /// The clocks of the machine.
    public static var system: StoreClock {
        StoreClock(wall: { .now }, steadyMilliseconds: { bootMilliseconds() }, bootID: systemBootID())
    }

    /// Linux: clock_gettime(2), CLOCK_BOOTTIME.
    private static func bootMilliseconds() -> Int64 {
        var time = timespec()
        let code = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        precondition(code == 0, "every Linux since 2.6.39 has this clock")
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func systemBootID() -> String {
        let data = try? Data(contentsOf: URL(fileURLWithPath: "/proc/sys/kernel/random/boot_id"))
        return String(decoding: data ?? Data(), as: UTF8.self).filter { !$0.isWhitespace }
    }
}

/// One moment on both clocks, in milliseconds.
package struct StoreMoment: Sendable {
    package var wall: Int64
    package var steady: Int64
    package var bootID: String

    package init(wall: Int64, steady: Int64, bootID: String) {
        (self.wall, self.steady, self.bootID) = (wall, steady, bootID)
    }
}

extension StoreClock {
    package func now() -> StoreMoment {
        StoreMoment(wall: wall().milliseconds, steady: steadyMilliseconds(), bootID: bootID)
    }
}

extension Date {
    /// Milliseconds since 1970, as the database stores times; clamped to 64 bits.
    package var milliseconds: Int64 {
        Int64(exactly: (timeIntervalSince1970 * 1000).rounded()) ?? (timeIntervalSince1970 < 0 ? .min : .max)
    }

    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

extension Duration {
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multiplied(clamping: 1000).adding(clamping: attoseconds / 1_000_000_000_000_000)
    }
}
