import Glibc

#if FUZZING
    import CLibFuzzer
#endif

/// Runs a target under libFuzzer until the time is over or an input causes a finding; in a build of the tests once for
/// each given input.
///
/// <https://llvm.org/docs/LibFuzzer.html>
public enum FuzzTarget {
    /// Set once, before the driver starts: its C callback has no context argument.
    nonisolated(unsafe) private static var body: (FuzzInput) throws -> Void = { _ in }

    #if FUZZING
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
    #else
        /// The inputs of `run`; set once, before it.
        nonisolated(unsafe) public static var inputs: [[UInt8]] = []

        public static func run(_ body: @escaping (FuzzInput) throws -> Void) -> Never {
            Self.body = body
            for input in inputs { perform(FuzzInput(input)) }
            exit(0)
        }
    #endif

    private static func perform(_ input: FuzzInput) {
        do { try body(input) } catch { Invariant.broken("threw \(error)") }
    }
}

/// Checks conditions that must hold for every input.
public enum Invariant {
    /// Aborts the process; libFuzzer stores the input as a finding.
    public static func broken(_ sentence: String) -> Never {
        let text = Array("INVARIANT BROKEN: \(sentence)\n".utf8)
        _ = text.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        abort()
    }

    public static func hold(_ condition: Bool, _ sentence: @autoclosure () -> String) {
        if !condition { broken(sentence()) }
    }
}
