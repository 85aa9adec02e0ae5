/// What becomes of one system call under a `SystemCallFilter`.
package struct SystemCallRule: Sendable {
    /// The answer of the kernel.
    package enum Verdict: Sendable, Hashable {
        case allow
        /// The call fails with that number of errno.
        case fail(errno: CInt)
        /// The whole process is ended with SIGSYS.
        case kill
    }

    /// What a lower half of an argument has to be: an argument that no kernel reads beyond 32 bits.
    package struct Condition: Sendable {
        package let argument: Int
        package let mask: UInt32
        package let value: UInt32

        /// The argument is that number.
        package static func argument(_ argument: Int, is value: UInt32) -> Condition {
            Condition(argument: argument, mask: .max, value: value)
        }

        /// The argument has all of those bits.
        package static func argument(_ argument: Int, has bits: UInt32) -> Condition {
            Condition(argument: argument, mask: bits, value: bits)
        }

        /// The argument has none of those bits.
        package static func argument(_ argument: Int, lacks bits: UInt32) -> Condition {
            Condition(argument: argument, mask: bits, value: 0)
        }
    }

    package let number: Int32
    /// It is enough that one of them holds; none at all always holds.
    package let conditions: [Condition]
    package let verdict: Verdict
    /// When no condition holds.
    package let otherwise: Verdict

    /// A call with one fate.
    package init(_ number: Int32, _ verdict: Verdict) {
        self.number = number
        self.verdict = verdict
        conditions = []
        otherwise = verdict
    }

    /// A call that is allowed when one of the conditions holds.
    package init(allowing number: Int32, if conditions: [Condition], otherwise: Verdict) {
        self.number = number
        self.conditions = conditions
        verdict = .allow
        self.otherwise = otherwise
    }
}
