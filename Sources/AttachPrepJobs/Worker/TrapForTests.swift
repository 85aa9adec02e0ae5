#if DEBUG
    import Glibc
    import RichPush
    import Synchronization

    /// The fault of issue 18, put back for one source: `last + 1` of an origin's `Content-Range`, which trapped.
    ///
    /// In debug builds alone, and for tests alone: a release build does not look at the variable.
    enum TrapForTests {
        /// Traps when `ATTACHPREP_TEST_TRAP` is a part of the source.
        static func check(_ source: String) {
            guard let part = unsafe getenv("ATTACHPREP_TEST_TRAP").map({ unsafe String(cString: $0) }), !part.isEmpty,
                source.contains(part)
            else { return }
            // Bounded: not at all, which is what it is for.
            let end = Atomic(Int64.max).load(ordering: .relaxed) + 1
            preconditionFailure("\(end) has wrapped")
        }
    }
#endif
