import Linux
import MediaEngine
import RichPush
import SafeArithmetic

/// A process that makes one attempt.
struct WallTrialProcess: Sendable {
    private let process: ChildProcess
    private let socket: MessageSocket

    init(_ executable: String, _ attempt: WallAttempt) throws {
        let (ours, theirs) = try MessageSocket.pair()
        socket = ours
        process = try ChildProcess.spawn(
            path: executable, arguments: [MediaChildArgument.attempt, attempt.rawValue], socket: theirs)
        // The pool sets this limit from outside as well.
        if attempt == .spin { try ProcessAllowance.limitProcessor(seconds: 1, of: process) }
    }

    /// Waits until its wall stands.
    func waitUntilReady() throws {
        // Bounded: a constant.
        _ = try socket.waitUntilReadable(deadline: .now + .seconds(clamping: Limits.childStartSecondsMax))
    }

    /// Waits for the end; who has to be ended by us got through.
    var ending: ChildProcess.Ending {
        guard process.waitUntilEnded(milliseconds: Int(clamping: Limits.childStartSecondsMax * 1000)) else {
            process.kill()
            _ = process.reap()
            return .exited(code: MediaChildExit.attemptSucceeded)
        }
        return process.reap()
    }
}
