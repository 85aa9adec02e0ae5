import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How many renders run at a time when nobody says: the cores this process may use.
public enum MediaSlots {
    /// The smaller of the scheduler's cores and the control group's quota, at least 1.
    ///
    /// Linux: control groups v2, `cpu.max`; v1, `cpu.cfs_quota_us` over `cpu.cfs_period_us`.
    public static var machineDefault: Int {
        let quota = (text("cpu.max") ?? legacyQuota).flatMap(cores(quota:))
        return max(1, min(ProcessInfo.processInfo.activeProcessorCount, quota ?? .max))
    }

    /// Version 1 keeps in two files what version 2 writes on one line.
    private static var legacyQuota: String? {
        guard let quota = text("cpu/cpu.cfs_quota_us"), let period = text("cpu/cpu.cfs_period_us") else { return nil }
        return "\(quota) \(period)"
    }

    private static func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "/sys/fs/cgroup/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads `200000 100000` as two cores; `max 100000`, and version 1's `-1 100000`, are no quota. Pure.
    package static func cores(quota: String) -> Int? {
        let numbers = quota.split(whereSeparator: \.isWhitespace).map { Double($0) }
        guard numbers.count == 2, let allowed = numbers[0], let period = numbers[1], allowed > 0, period > 0 else {
            return nil
        }
        // Bounded: floating point until it is clamped.
        return max(1, Int(clamping: (allowed / period).rounded()))
    }
}
