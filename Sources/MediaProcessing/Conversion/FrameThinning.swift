/// Leaves out frames so that no more than a rate are left on average, and those as evenly as they were.
// Bounded throughout: floating point.
struct FrameThinning {
    /// Part of an interval that a frame may come early: clocks of cameras jitter.
    private static let earliness = 0.3
    /// Part of an interval that is lost for good when a frame comes late.
    private static let patience = 0.5

    private let interval: Double
    private var next = -Double.infinity

    /// - Parameter frameRateMax: Frames a second; nil keeps all.
    init(frameRateMax: Double?) {
        interval = frameRateMax.map { 1 / $0 } ?? 0
    }

    /// Whether the frame at a time stays; times only grow.
    mutating func keeps(_ time: Double) -> Bool {
        if interval == 0 { return true }
        if time < next - interval * Self.earliness { return false }
        next = next.isFinite ? max(next, time - interval * Self.patience) + interval : time + interval
        return true
    }
}
