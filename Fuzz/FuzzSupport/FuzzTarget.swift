import CLibFuzzer
import Glibc

/// One parser under libFuzzer: takes inputs until the time is over or something breaks.
///
/// <https://llvm.org/docs/LibFuzzer.html>
public enum FuzzTarget {
    /// Set once, before the driver starts: its C callback can carry no context.
    nonisolated(unsafe) private static var body: (FuzzInput) throws -> Void = { _ in }

    /// Runs the driver with the command line's options; an error that the body throws is a finding.
    public static func run(_ body: @escaping (FuzzInput) throws -> Void) -> Never {
        Self.body = body
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        let code = LLVMFuzzerRunDriver(&count, &arguments) { start, count in
            FuzzTarget.perform(FuzzInput(Array(UnsafeBufferPointer(start: start, count: count))))
            return 0
        }
        exit(code)
    }

    private static func perform(_ input: FuzzInput) {
        do { try body(input) } catch { Invariant.broken("threw \(error)") }
    }
}

/// What must hold whatever the input is.
public enum Invariant {
    /// Ends the process, which libFuzzer takes as a finding and keeps the input of.
    public static func broken(_ sentence: String) -> Never {
        let text = Array("INVARIANT BROKEN: \(sentence)\n".utf8)
        _ = text.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        abort()
    }

    public static func hold(_ condition: Bool, _ sentence: @autoclosure () -> String) {
        if !condition { broken(sentence()) }
    }
}
