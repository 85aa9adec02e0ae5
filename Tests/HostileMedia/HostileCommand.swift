import AttachPrepModel
import Glibc
import Linux
import MediaEngine
import MediaProcessing
import MediaTypes

/// A command in the first line of a file, such as `attachprep-test connect 8080`; other files are normal media.
struct HostileCommand {
    private let arguments: [Substring]
    private let descriptors: [CInt]
    /// Outputs of earlier calls.
    private let earlierOutputs: [CInt]

    private static let prefix = "attachprep-test "

    init(_ descriptors: [CInt], earlierOutputs: [CInt]) {
        self.descriptors = descriptors
        self.earlierOutputs = earlierOutputs
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = descriptors.first.map { descriptor in
            unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        }
        let text = String(decoding: bytes.prefix(max(0, count ?? 0)), as: UTF8.self)
        let line = text.prefix { $0 != "\n" }
        arguments = line.hasPrefix(Self.prefix) ? line.dropFirst(Self.prefix.count).split(separator: " ") : []
    }

    /// - Throws: `media.unsupported` when the sandbox blocked the attempt, `internal` when it succeeded.
    func run() throws {
        guard let command = arguments.first else { return }
        throw try succeeds(String(command), arguments.dropFirst().map(String.init))
            ? AttachPrepError(.internal, "not blocked: \(arguments.joined(separator: " "))")
            : AttachPrepError(.mediaUnsupported, "blocked: \(arguments.joined(separator: " "))")
    }

    private func succeeds(_ command: String, _ details: [String]) throws -> Bool {
        let number = details.first.flatMap { Int($0) } ?? 0
        return switch command {
        case "read": EscapeAttempt.reads(details[0])
        case "write": EscapeAttempt.writes(into: details[0])
        case "list": EscapeAttempt.lists(details[0])
        case "connect": EscapeAttempt.connects(port: UInt16(number))
        case "execute": EscapeAttempt.executes(details[0])
        case "fork": EscapeAttempt.forks()
        case "trace": EscapeAttempt.traces()
        case "signal": EscapeAttempt.signals(getppid())
        case "code": EscapeAttempt.makesMemoryExecutable()
        case "allocate": EscapeAttempt.allocates(bytes: number)
        case "fill": fill(bytes: number)
        case "spin": EscapeAttempt.spins(seconds: number)
        case "grow": EscapeAttempt.grows(descriptors[1], to: number)
        case "open": EscapeAttempt.opens(descriptors: number)
        case "others": findsOtherFiles()
        case "limits": raisesLimits()
        case "spoil": !earlierOutputs.isEmpty && earlierOutputs.allSatisfy { EscapeAttempt.grows($0, to: 100) }
        case "crash": abort()
        case "leave": exit(0)
        case "hang": hang()
        default: throw AttachPrepError(.requestInvalid, "unknown command: \(command)")
        }
    }

    /// Allocates memory and writes to all of it.
    private func fill(bytes: Int) -> Bool {
        var pages: [UnsafeMutableRawPointer] = unsafe []
        for _ in 0..<(bytes / 1_000_000) {
            guard let page = unsafe malloc(1_000_000) else { return false }
            unsafe memset(page, 1, 1_000_000)
            unsafe pages.append(page)
        }
        return true
    }

    /// Looks for open files other than this call's, the standard streams and the socket.
    private func findsOtherFiles() -> Bool {
        let own = Set([0, 1, 2, ChildProcess.socketDescriptor] + descriptors)
        return (CInt(0)..<1024).contains { !own.contains($0) && fcntl($0, F_GETFD) >= 0 }
    }

    private func raisesLimits() -> Bool {
        (try? ResourceLimit.openFiles.set(128)) != nil || (try? ResourceLimit.coreDump.set(1_000)) != nil
            || (try? ResourceLimit.fileSize.set(Limits.mediaProcessFileBytesMax / 2)) != nil
    }

    private func hang() -> Bool {
        while true { pause() }
    }
}
