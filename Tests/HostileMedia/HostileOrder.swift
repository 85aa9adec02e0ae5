import Glibc
import Linux
import RichPush

/// What the first line of a file says, as in `attachprep-test connect 8080`; other files are media like any other.
struct HostileOrder {
    private let words: [Substring]
    private let descriptors: [CInt]
    /// Outputs of earlier calls.
    private let kept: [CInt]

    private static let mark = "attachprep-test "

    init(_ descriptors: [CInt], kept: [CInt]) {
        self.descriptors = descriptors
        self.kept = kept
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = descriptors.first.map { descriptor in
            unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        }
        let text = String(decoding: bytes.prefix(max(0, count ?? 0)), as: UTF8.self)
        let line = text.prefix { $0 != "\n" }
        words = line.hasPrefix(Self.mark) ? line.dropFirst(Self.mark.count).split(separator: " ") : []
    }

    /// - Throws: `media.unsupported` when a wall stopped it, `internal` when it got through.
    func carryOut() throws {
        guard let order = words.first else { return }
        throw try isDone(String(order), words.dropFirst().map(String.init))
            ? AttachPrepError(.internal, "got through: \(words.joined(separator: " "))")
            : AttachPrepError(.mediaUnsupported, "stopped: \(words.joined(separator: " "))")
    }

    private func isDone(_ order: String, _ details: [String]) throws -> Bool {
        let number = details.first.flatMap { Int($0) } ?? 0
        return switch order {
        case "read": Trespass.reads(details[0])
        case "write": Trespass.writes(into: details[0])
        case "list": Trespass.lists(details[0])
        case "connect": Trespass.connects(port: UInt16(number))
        case "execute": Trespass.executes(details[0])
        case "fork": Trespass.forks()
        case "trace": Trespass.traces()
        case "signal": Trespass.signals(getppid())
        case "code": Trespass.makesMemoryExecutable()
        case "allocate": Trespass.allocates(bytes: number)
        case "fill": fill(bytes: number)
        case "spin": Trespass.spins(seconds: number)
        case "grow": Trespass.grows(descriptors[1], to: number)
        case "open": Trespass.opens(descriptors: number)
        case "others": findsOtherFiles()
        case "limits": raisesLimits()
        case "spoil": !kept.isEmpty && kept.allSatisfy { Trespass.grows($0, to: 100) }
        case "crash": abort()
        case "leave": exit(0)
        case "hang": hang()
        default: throw AttachPrepError(.requestInvalid, "no such order: \(order)")
        }
    }

    /// Takes memory and writes to all of it.
    private func fill(bytes: Int) -> Bool {
        var pages: [UnsafeMutableRawPointer] = unsafe []
        for _ in 0..<(bytes / 1_000_000) {
            guard let page = unsafe malloc(1_000_000) else { return false }
            unsafe memset(page, 1, 1_000_000)
            unsafe pages.append(page)
        }
        return true
    }

    /// Looks for open files that did not come with this call, its streams and its socket.
    private func findsOtherFiles() -> Bool {
        let own = Set([0, 1, 2, ChildProcess.socketDescriptor] + descriptors)
        return (CInt(0)..<1024).contains { !own.contains($0) && fcntl($0, F_GETFD) >= 0 }
    }

    private func raisesLimits() -> Bool {
        (try? ResourceLimit.openFiles.set(128)) != nil || (try? ResourceLimit.coreDump.set(1_000)) != nil
            || (try? ResourceLimit.fileSize.set(Limits.childFileBytesMax / 2)) != nil
    }

    private func hang() -> Bool {
        while true { pause() }
    }
}
