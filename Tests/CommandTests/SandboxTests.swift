import Foundation
import TestSupport
import Testing

/// What `doctor` and `--require-sandbox` say of the walls, on this machine and on one that lacks some.
@Suite(.timeLimit(.minutes(3))) struct SandboxTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// A media process on a machine without some system calls: they are taken away before it begins.
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

    /// `landlock_create_ruleset`, the same number on every machine.
    private static let landlock = 444

    @Test func `doctor tries every wall, and each of them holds here`() async throws {
        let result = try await bench.run("doctor", "--format", "json")
        let examination = try JSONDecoder().decode(Examination.self, from: Data(result.text.utf8))
        #expect(examination.walls.count == 18)
        #expect(Set(examination.walls.map(\.wall)).count == 10)
        #expect(examination.walls.filter { !$0.holds } == [])
        #expect(result.exitCode == 0)
    }

    @Test func `doctor names the wall that this machine does not have`() async throws {
        let media = try mediaProcess(without: Self.landlock)
        let result = try await bench.command(["doctor"], environment: ["ATTACHPREP_MEDIA": media]).run()
        #expect(result.exitCode == 1)
        #expect(result.text.contains("OPEN     no file system    read /etc/passwd"), "\(result.text)")
        #expect(result.text.contains("this kernel has no Landlock"))
        #expect(result.text.contains("blocked  system calls      open a file"))
    }

    @Test func `--require-sandbox refuses such a machine before a file is looked at`() async throws {
        let media = try mediaProcess(without: Self.landlock)
        let words = bench.words("prepare", ["--require-sandbox", SourceTree.sample("grid.jpg")])
        let result = try await bench.command(words, environment: ["ATTACHPREP_MEDIA": media]).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first, "\(result.errorText)"))
        bench.expect(manifest, rejectedAs: "sandbox.unavailable")
        #expect(manifest.error?.retryable == false)
        #expect(result.exitCode == 1)
    }

    @Test func `Without it the walls that are there have to do`() async throws {
        let media = try mediaProcess(without: Self.landlock)
        let words = bench.words("prepare", [SourceTree.sample("grid.jpg")])
        let result = try await bench.command(words, environment: ["ATTACHPREP_MEDIA": media]).run()
        #expect(result.exitCode == 0)
    }

    @Test func `--require-sandbox is content with this machine`() async throws {
        let manifest = try await bench.prepare(SourceTree.sample("grid.webp"), "--require-sandbox")
        #expect(manifest.outcome == "converted")
    }

    @Test func `strace sees nothing of a working child but memory, threads and what is open`() async throws {
        let trace = bench.folder.path("trace")
        let media = try bench.folder.write(
            "#!/bin/sh\nexec strace -f -o '\(trace)' '\(try BuiltBinary.attachprepMedia())' \"$@\"\n", to: "traced")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: media)
        let sources = ["orientation-6.jpg", "grid.heic", "grid.avif", "counter.webp", "clock.webm", "cover.mp3"]
        // One request at a time starts one child, whose trace nobody else writes into.
        let words = bench.words("batch", ["--concurrency", "1", "--crop", "0,0,0.5,0.5", "-"])
        let result = try await bench.command(
            words, environment: ["ATTACHPREP_MEDIA": media],
            input: sources.map { SourceTree.sample($0) + "\n" }.joined()
        ).run()
        #expect(result.exitCode == 0, "\(result.text)")
        let lines = String(decoding: try bench.folder.bytes(of: "trace"), as: UTF8.self).split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.contains("{\\\"ready\\\"") })
        let succeeded = Set(lines[start...].filter { !$0.contains("= -1 E") }.compactMap(Self.call))
        #expect(succeeded.isSuperset(of: ["recvmsg", "sendmsg", "pread64", "pwrite64", "futex"]))
        #expect(succeeded.subtracting(Self.harmless) == [])
    }

    /// The name of the system call whose result stands on a line; nil for signals, ends and the first half of one that
    /// another thread interrupted.
    private static func call(_ line: Substring) -> String? {
        guard let equals = line.range(of: " = ", options: .backwards), !line.hasSuffix("<unfinished ...>") else {
            return nil
        }
        var text = line[..<equals.lowerBound].drop { !$0.isWhitespace }.drop { $0.isWhitespace }
        if text.hasPrefix("<... ") { text = text.dropFirst(5) }
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return name.isEmpty ? nil : String(name)
    }

    private static let harmless: Set<String> = [
        "recvmsg", "recvfrom", "sendmsg", "read", "pread64", "pwrite64", "write", "writev", "lseek", "ftruncate",
        "close",
        "dup", "fcntl", "newfstatat", "fstat", "fadvise64", "mmap", "munmap", "mremap", "mprotect", "madvise", "brk",
        "futex", "clone", "set_robust_list", "rseq", "rt_sigprocmask", "rt_sigaction", "sigaltstack", "exit",
        "exit_group", "sched_getaffinity", "sched_yield", "sysinfo", "getpid", "gettid", "getrandom", "prctl",
        "clock_nanosleep", "prlimit64", "getrusage", "uname",
    ]

    private struct Examination: Decodable {
        struct Finding: Decodable, Equatable {
            let wall: String
            let holds: Bool
        }

        let walls: [Finding]
    }
}
