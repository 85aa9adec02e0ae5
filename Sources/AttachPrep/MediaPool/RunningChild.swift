import Foundation
import Linux
import MediaEngine
import RichPush
import SafeArithmetic

/// One running child: its process, its socket, and what it did and takes.
final class RunningChild {
    let process: ChildProcess
    let usage: ProcessUsage
    private let socket: MessageSocket
    private let started = ContinuousClock.now
    private(set) var calls = 0
    /// Whether it has loaded its libraries; before that it has seen no file.
    private(set) var isReady = false
    /// Of the call under way, or of the start.
    private var deadline: ContinuousClock.Instant

    /// What a child may know of our environment: what keeps its memory small, a time zone that needs no file, and that
    /// no backtrace is to be made, which would start a program.
    private static let environment = [
        "LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2", "TZ": "UTC0", "SWIFT_BACKTRACE": "enable=no",
    ]

    init(process: ChildProcess, usage: ProcessUsage, socket: MessageSocket) {
        self.process = process
        self.usage = usage
        self.socket = socket
        // Bounded: a constant.
        deadline = started + .seconds(clamping: Limits.childStartSecondsMax)
        allowProcessor()
    }

    /// Starts one without waiting for it; what it is sent meanwhile lies in its socket.
    static func start(_ program: MediaProgram) throws(SystemError) -> RunningChild {
        let (ours, theirs) = try MessageSocket.pair()
        let process = try ChildProcess.spawn(
            path: program.executable, arguments: program.arguments, socket: theirs, environment: environment)
        do {
            // Before it has loaded its libraries, so that all of its threads are born that way.
            if program.niceness > 0 { try ProcessAllowance.lower(by: program.niceness, process) }
            return RunningChild(process: process, usage: try ProcessUsage(of: process), socket: ours)
        } catch {
            process.kill()
            _ = process.reap()
            throw error
        }
    }

    /// Readable when it says something or has ended.
    var descriptor: CInt { socket.descriptor }

    var age: Duration { started.duration(to: .now) }

    /// Whether it said or ended something since it was last listened to.
    var isReadable: Bool { (try? socket.isReadable()) ?? true }

    /// Sends a call and lets it use the processor until the deadline.
    func send(_ job: MediaJob) throws {
        calls += 1
        deadline = job.deadline
        allowProcessor()
        let left = max(0, ContinuousClock.now.duration(to: deadline).milliseconds)
        let message = MediaCallMessage(number: calls, call: job.call, millisecondsLeft: Int(clamping: left))
        try socket.send(MediaMessageCoding.encode(message), descriptors: job.descriptors, waits: false)
    }

    /// Waits so long for it to say something.
    func waitUntilReadable(deadline: ContinuousClock.Instant) throws -> Bool {
        try socket.waitUntilReadable(deadline: deadline)
    }

    /// What it says of the call under way; nil for its first word, which may still be due.
    ///
    /// - Throws: `ChildFault`.
    func receive() throws -> MediaAnswerMessage.Content? {
        let bytes: [UInt8]?
        do {
            bytes = try socket.receiveBytes(bytesMax: Limits.childMessageBytesMax)
        } catch {
            throw ChildFault.nonsense("\(error)")
        }
        guard let bytes else { throw ChildFault.closed }
        guard let message = try? MediaMessageCoding.decode(MediaAnswerMessage.self, from: bytes) else {
            throw ChildFault.nonsense("a message of \(bytes.count) bytes that is none of ours")
        }
        if message == .ready, !isReady {
            isReady = true
            return nil
        }
        guard message.number == calls, calls > 0 else {
            throw ChildFault.nonsense("spoke of call \(message.number) in call \(calls)")
        }
        isReady = true
        return message.content
    }

    /// An idle child has nothing to do.
    func rest() {
        deadline = .now
        allowProcessor()
    }

    /// Ends it.
    func end() -> ChildProcess.Ending {
        process.kill()
        return process.reap()
    }

    /// All of them may work on one file.
    private static let cores = Double(ProcessInfo.processInfo.activeProcessorCount)

    private func allowProcessor() {
        guard let used = usage.processorSeconds else { return }
        let left = max(0, ContinuousClock.now.duration(to: deadline).milliseconds / 1000)
        // Bounded: floating point, which does not trap.
        let limit = used + left * Self.cores + Limits.childProcessorSlackSeconds
        // One that cannot be limited has ended, which the next message shows.
        try? ProcessAllowance.limitProcessor(seconds: Int(clamping: limit.rounded(.up)), of: process)
    }
}
