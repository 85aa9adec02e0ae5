#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How many renders run at a time when nobody says: the cores this process may use.
public enum MediaSlots {
    /// The smaller of the scheduler's cores and the control group's quota, at least 1.
    ///
    /// Linux: control groups v2, `cpu.max`.
    public static var machineDefault: Int {
        let quota = FileManager.default.contents(atPath: "/sys/fs/cgroup/cpu.max")
            .flatMap { cores(quota: String(decoding: $0, as: UTF8.self)) }
        return max(1, min(ProcessInfo.processInfo.activeProcessorCount, quota ?? .max))
    }

    /// Reads `cpu.max`: `200000 100000` is two cores, `max 100000` no quota. Pure.
    package static func cores(quota: String) -> Int? {
        let numbers = quota.split(whereSeparator: \.isWhitespace).map { Double($0) }
        guard numbers.count == 2, let allowed = numbers[0], let period = numbers[1], period > 0 else { return nil }
        return max(1, Int((allowed / period).rounded()))
    }
}
