/// Decides which traces are recorded (`OTEL_TRACES_SAMPLER`). Pure.
package struct TraceSampler: Sendable, Hashable {
    /// Whether the caller's decision is followed, where there is a caller.
    let followsParent: Bool
    /// The share of the other traces, 0 to 1.
    let ratio: Double

    /// Everything, unless the caller decided otherwise: `parentbased_always_on`, the default of OpenTelemetry.
    package static let standard = TraceSampler(followsParent: true, ratio: 1)

    init(followsParent: Bool, ratio: Double) {
        (self.followsParent, self.ratio) = (followsParent, ratio)
    }

    /// - Parameters:
    ///   - name: a value of `OTEL_TRACES_SAMPLER`.
    ///   - argument: the value of `OTEL_TRACES_SAMPLER_ARG`, a number from 0 to 1; 1 if it is missing or invalid.
    /// - Returns: Nil for an unknown name.
    package init?(name: String, argument: String?) {
        let prefix = "parentbased_"
        followsParent = name.hasPrefix(prefix)
        switch followsParent ? String(name.dropFirst(prefix.count)) : name {
        case "always_on": ratio = 1
        case "always_off": ratio = 0
        case "traceidratio": ratio = argument.flatMap(Self.ratio) ?? 1
        default: return nil
        }
    }

    /// A number from 0 to 1; nil for anything else.
    static func ratio(_ text: String) -> Double? { Double(text).flatMap { 0...1 ~= $0 ? $0 : nil } }

    /// Whether a span is recorded. All processes with the same ratio decide alike, because the trace id decides.
    package func samples(_ trace: TraceContext.TraceID, parent: TraceContext?) -> Bool {
        if followsParent, let parent { return parent.isSampled }
        if ratio >= 1 { return true }
        // 63 bits of the id's random half, as other implementations compare them.
        return Double(trace.low >> 1) < ratio * Double(UInt64(1) << 63)
    }
}
