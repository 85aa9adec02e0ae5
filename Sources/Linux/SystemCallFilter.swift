import CLinux
import Glibc

/// A list of what a process may ask of the kernel, kept by the kernel.
///
/// Linux: `seccomp(2)` with a program for its packet filter machine. It holds for the calling thread and those it
/// starts, needs no privilege after `ProcessFlags.refuseNewPrivileges`, and cannot be undone.
package struct SystemCallFilter: Sendable {
    private var program: [sock_filter] = []

    /// Rules in the order in which they are looked through: the frequent ones first.
    ///
    /// - Parameter otherwise: What becomes of calls that no rule names.
    package init(rules: [SystemCallRule], otherwise: SystemCallRule.Verdict) {
        begin()
        for rule in rules { append(rule) }
        answer(otherwise)
    }

    /// Puts it into force.
    package func install() throws(SystemError) {
        var instructions = program
        let code = unsafe instructions.withUnsafeMutableBufferPointer { buffer in
            var whole = unsafe sock_fprog(len: UInt16(buffer.count), filter: buffer.baseAddress)
            return unsafe CLinux_seccomp_set_filter(&whole)
        }
        guard code == 0 else { throw SystemError("seccomp") }
    }

    // MARK: The program

    /// Calls of another architecture have other numbers, and so have those of x32: they end the process.
    private mutating func begin() {
        load(CLinux_seccomp_architecture)
        skip(1, unless: false, equals: CLinux_audit_architecture())
        answer(.kill)
        load(CLinux_seccomp_number)
        #if arch(x86_64)
            let firstOfX32: UInt32 = 0x4000_0000
            program.append(
                sock_filter(code: UInt16(BPF_JMP | BPF_JGE | BPF_K), jt: 0, jf: 1, k: firstOfX32))
            answer(.kill)
        #endif
    }

    private mutating func append(_ rule: SystemCallRule) {
        guard !rule.conditions.isEmpty else {
            skip(1, unless: true, equals: UInt32(rule.number))
            answer(rule.verdict)
            return
        }
        // A condition is four instructions, the answer at the end one: all are passed by another call.
        skip(UInt8(rule.conditions.count * 4 + 1), unless: true, equals: UInt32(rule.number))
        for condition in rule.conditions {
            // The machines we run on are little-endian: the lower half comes first.
            load(CLinux_seccomp_arguments + UInt32(condition.argument * MemoryLayout<UInt64>.size))
            program.append(sock_filter(code: UInt16(BPF_ALU | BPF_AND | BPF_K), jt: 0, jf: 0, k: condition.mask))
            skip(1, unless: true, equals: condition.value)
            answer(rule.verdict)
        }
        answer(rule.otherwise)
    }

    private mutating func load(_ offset: UInt32) {
        program.append(sock_filter(code: UInt16(BPF_LD | BPF_W | BPF_ABS), jt: 0, jf: 0, k: offset))
    }

    /// Passes over so many instructions when what was loaded is that number, or unless it is.
    private mutating func skip(_ count: UInt8, unless: Bool, equals value: UInt32) {
        program.append(
            sock_filter(
                code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jt: unless ? 0 : count, jf: unless ? count : 0, k: value))
    }

    private mutating func answer(_ verdict: SystemCallRule.Verdict) {
        let value: UInt32 =
            switch verdict {
            case .allow: CLinux_seccomp_allow
            case .fail(let number): CLinux_seccomp_errno | UInt32(number)
            case .kill: CLinux_seccomp_kill
            }
        program.append(sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: value))
    }
}
