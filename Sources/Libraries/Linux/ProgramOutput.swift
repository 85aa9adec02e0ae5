import CLinux
import Glibc

/// The standard output of a program that was run to its end, or was ended with all processes that it started.
package struct ProgramOutput: Sendable {
    /// Why a program was ended.
    package enum Stop: Sendable, Hashable {
        case deadline
        case cancelled
        case outputTooLong
    }

    /// The output, at most the allowed bytes.
    package let bytes: [UInt8]
    package let ending: ChildProcess.Ending
    /// Nil when the program ended by itself.
    package let stop: Stop?

    /// Runs a program and blocks until it has ended. Its standard input and error are `/dev/null`.
    ///
    /// Processes that it leaves behind in its process group are killed.
    /// - Parameters:
    ///   - environment: The whole environment of the program.
    ///   - isCancelled: Asked ten times a second.
    package static func run(
        path: String, arguments: [String], environment: [String: String], bytesMax: Int,
        deadline: ContinuousClock.Instant, isCancelled: () -> Bool = { false }
    ) throws(SystemError) -> ProgramOutput {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError("pipe") }
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        // Children started by other threads close all inherited descriptors, so setting this later is soon enough.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child: ChildProcess
        do {
            defer { close(writing) }
            child = try ChildProcess.spawn(
                path: path, arguments: arguments, output: writing, environment: environment)
        }
        let output = OutputReader(child: child, descriptor: reading, bytesMax: bytesMax, deadline: deadline)
        let (bytes, stop) = output.read(isCancelled)
        child.killGroup()
        return ProgramOutput(bytes: bytes, ending: child.reap(), stop: stop)
    }
}

/// Reads a child's output until the child has ended or has to be ended.
private struct OutputReader {
    let child: ChildProcess
    let descriptor: CInt
    let bytesMax: Int
    let deadline: ContinuousClock.Instant

    private static let pollMilliseconds: CInt = 100

    func read(_ isCancelled: () -> Bool) -> ([UInt8], ProgramOutput.Stop?) {
        var bytes: [UInt8] = []
        var isOpen = true
        while true {
            if isCancelled() { return (bytes, .cancelled) }
            if ContinuousClock.now >= deadline { return (bytes, .deadline) }
            // A process that the child left behind may keep the pipe open; its output is not waited for.
            let hasEnded = child.hasEnded
            if isOpen {
                switch chunk(waitingFor: hasEnded ? 0 : Self.pollMilliseconds) {
                case .bytes(let chunk): bytes += chunk
                case .nothing: if hasEnded { return (bytes, nil) }
                case .end: isOpen = false
                }
                if bytes.count > bytesMax { return (Array(bytes.prefix(bytesMax)), .outputTooLong) }
            } else if child.waitUntilEnded(milliseconds: Int(Self.pollMilliseconds)) {
                return (bytes, nil)
            }
        }
    }

    private enum Chunk {
        case bytes(ArraySlice<UInt8>)
        case nothing
        case end
    }

    private func chunk(waitingFor milliseconds: CInt) -> Chunk {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waited, 1, milliseconds) > 0 else { return .nothing }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count < 0 { return errno == EINTR || errno == EAGAIN ? .nothing : .end }
        return count == 0 ? .end : .bytes(buffer.prefix(count))
    }
}
