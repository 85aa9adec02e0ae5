#if DEBUG
    import Glibc
    import RichPush
    import Synchronization

    /// Reproduces issue 18 for one source: `last + 1` of a server's `Content-Range`, which overflowed and trapped.
    ///
    /// Only in debug builds, for tests; release builds do not read the variable.
    enum TrapForTests {
        /// Traps when the source contains the value of `ATTACHPREP_TEST_TRAP`.
        static func check(_ source: String) {
            guard let part = unsafe getenv("ATTACHPREP_TEST_TRAP").map({ unsafe String(cString: $0) }), !part.isEmpty,
                source.contains(part)
            else { return }
            let end = Atomic(Int64.max).load(ordering: .relaxed) + 1
            preconditionFailure("\(end) has wrapped")
        }
    }
#endif
