import Glibc

/// With `FUZZ_TRACE=1`, prints what is sent and received, to analyze a finding.
public enum Trace {
    public static let isOn = getenv("FUZZ_TRACE") != nil

    public static func show(_ text: @autoclosure () -> String) {
        guard isOn else { return }
        let bytes = Array((text() + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
