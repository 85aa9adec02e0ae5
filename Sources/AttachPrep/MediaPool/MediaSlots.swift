#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Glibc

/// How many renders run at a time when nobody says: the cores this process may use.
public enum MediaSlots {
    /// The smaller of the scheduler's cores and the control group's quota, at least 1.
    ///
    /// Linux: `sched_getaffinity(2)`; control groups v2, `cpu.max`.
    public static var machineDefault: Int {
        let quota = FileManager.default.contents(atPath: "/sys/fs/cgroup/cpu.max")
            .flatMap { cores(quota: String(decoding: $0, as: UTF8.self)) }
        return max(1, min(affinityCores, quota ?? .max))
    }

    private static var affinityCores: Int {
        var set = cpu_set_t()
        guard unsafe sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else { return 1 }
        return unsafe withUnsafeBytes(of: &set) { bytes in
            unsafe bytes.reduce(0) { $0 + $1.nonzeroBitCount }
        }
    }

    /// Reads `cpu.max`: `200000 100000` is two cores, `max 100000` no quota. Pure.
    package static func cores(quota: String) -> Int? {
        let numbers = quota.split(whereSeparator: \.isWhitespace).map { Double($0) }
        guard numbers.count == 2, let allowed = numbers[0], let period = numbers[1], period > 0 else { return nil }
        return max(1, Int((allowed / period).rounded()))
    }
}
