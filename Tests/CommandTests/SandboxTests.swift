import Foundation
import TestSupport
import Testing

/// Sandbox checks of `doctor` and `--require-sandbox`, on this machine and with Landlock unavailable.
@Suite(.timeLimit(.minutes(3))) struct SandboxTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// A media process for which some system calls fail with ENOSYS, as on an older kernel.
    private func mediaProcess(without systemCalls: Int...) throws -> String {
        let script = """
            #!/usr/bin/python3 -IS
            import ctypes, os, struct, sys
            rules = [(0x20, 0, 0, 0)]
            for number in [\(systemCalls.map(String.init).joined(separator: ", "))]:
                rules += [(0x15, 0, 1, number), (0x06, 0, 0, 0x50000 | 38)]
            rules.append((0x06, 0, 0, 0x7FFF0000))
            code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *rule) for rule in rules))
            program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(rules), ctypes.addressof(code)))
            libc = ctypes.CDLL(None)
            if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program): sys.exit(9)
            path = '\(try BuiltBinary.attachprepMedia())'
            os.execv(path, [path] + sys.argv[1:])
            """
        let path = try bench.folder.write(script + "\n", to: "media-\(systemCalls.first ?? 0)")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    /// The number of `landlock_create_ruleset`, the same on every architecture.
    private static let landlock = 444

    @Test func `doctor checks every sandbox layer, and all of them are effective on this machine`() async throws {
        let result = try await bench.run("doctor", "--format", "json")
        let diagnostics = try JSONDecoder().decode(PrintedDiagnostics.self, from: Data(result.text.utf8))
        #expect(diagnostics.checks.count == 18)
        #expect(Set(diagnostics.checks.map(\.layer)).count == 10)
        #expect(diagnostics.checks.filter { !$0.holds } == [])
        #expect(result.exitCode == 0)
    }

    @Test func `doctor names the sandbox layer that this machine lacks`() async throws {
        let media = try mediaProcess(without: Self.landlock)
        let result = try await bench.command(["doctor"], environment: ["ATTACHPREP_MEDIA": media]).run()
        #expect(result.exitCode == 1)
        #expect(result.text.contains("OPEN     no file system    read /etc/passwd"), "\(result.text)")
        #expect(result.text.contains("this kernel has no Landlock"))
        #expect(result.text.contains("blocked  system calls      open a file"))
    }

    @Test func `With --require-sandbox, a missing layer rejects the request before a file is read`() async throws {
        let media = try mediaProcess(without: Self.landlock)
        let arguments = bench.arguments("prepare", ["--require-sandbox", SourceTree.sample("grid.jpg")])
        let result = try await bench.command(arguments, environment: ["ATTACHPREP_MEDIA": media]).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first, "\(result.errorText)"))
        bench.expect(manifest, rejectedAs: "sandbox.unavailable")
        #expect(manifest.error?.retryable == false)
        #expect(result.exitCode == 1)
    }

    @Test func `Without --require-sandbox, the remaining layers are sufficient`() async throws {
        let media = try mediaProcess(without: Self.landlock)
        let arguments = bench.arguments("prepare", [SourceTree.sample("grid.jpg")])
        let result = try await bench.command(arguments, environment: ["ATTACHPREP_MEDIA": media]).run()
        #expect(result.exitCode == 0)
    }

    @Test func `With --require-sandbox, a machine with all layers prepares the source`() async throws {
        let manifest = try await bench.prepare(SourceTree.sample("grid.webp"), "--require-sandbox")
        #expect(manifest.outcome == "converted")
    }

    @Test func `A media process at work makes only allowed system calls, as seen by strace`() async throws {
        let trace = bench.folder.path("trace")
        let media = try bench.folder.write(
            "#!/bin/sh\nexec strace -f -o '\(trace)' '\(try BuiltBinary.attachprepMedia())' \"$@\"\n", to: "traced")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: media)
        let sources = ["orientation-6.jpg", "grid.heic", "grid.avif", "counter.webp", "clock.webm", "cover.mp3"]
        // One request at a time starts one media process, so the trace has one writer.
        let arguments = bench.arguments("batch", ["--concurrency", "1", "--crop", "0,0,0.5,0.5", "-"])
        let result = try await bench.command(
            arguments, environment: ["ATTACHPREP_MEDIA": media],
            input: sources.map { SourceTree.sample($0) + "\n" }.joined()
        ).run()
        #expect(result.exitCode == 0, "\(result.text)")
        let lines = String(decoding: try bench.folder.bytes(of: "trace"), as: UTF8.self).split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.contains("{\\\"ready\\\"") })
        let succeeded = Set(lines[start...].filter { !$0.contains("= -1 E") }.compactMap(Self.call))
        #expect(succeeded.isSuperset(of: ["recvmsg", "sendmsg", "pread64", "pwrite64", "futex"]))
        #expect(succeeded.subtracting(Self.allowed) == [])
    }

    /// The name of the system call whose result is on a line; nil for signals, exits and the first half of an
    /// interrupted call.
    private static func call(_ line: Substring) -> String? {
        guard let equals = line.range(of: " = ", options: .backwards), !line.hasSuffix("<unfinished ...>") else {
            return nil
        }
        var text = line[..<equals.lowerBound].drop { !$0.isWhitespace }.drop { $0.isWhitespace }
        if text.hasPrefix("<... ") { text = text.dropFirst(5) }
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return name.isEmpty ? nil : String(name)
    }

    private static let allowed: Set<String> = [
        "recvmsg", "recvfrom", "sendmsg", "read", "pread64", "pwrite64", "write", "writev", "lseek", "ftruncate",
        "close",
        "dup", "fcntl", "newfstatat", "fstat", "fadvise64", "mmap", "munmap", "mremap", "mprotect", "madvise", "brk",
        "futex", "clone", "set_robust_list", "rseq", "rt_sigprocmask", "rt_sigaction", "sigaltstack", "exit",
        "exit_group", "sched_getaffinity", "sched_yield", "sysinfo", "getpid", "gettid", "getrandom", "prctl",
        "clock_nanosleep", "prlimit64", "getrusage", "uname",
    ]

    /// The sandbox checks in the JSON of `doctor`.
    private struct PrintedDiagnostics: Decodable {
        struct Check: Decodable, Equatable {
            let layer: String
            let holds: Bool

            private enum CodingKeys: String, CodingKey {
                case layer = "wall"
                case holds
            }
        }

        let checks: [Check]

        private enum CodingKeys: String, CodingKey {
            case checks = "walls"
        }
    }
}
