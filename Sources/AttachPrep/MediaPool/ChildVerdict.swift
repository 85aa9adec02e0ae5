import Glibc
import Linux
import MediaEngine
import RichPush

/// What the end of a child means for the call it had: pure.
///
/// `media.decoder_crashed` says that the file did it, and counts against it; an end from outside is `internal`.
enum ChildVerdict {
    /// - Parameter isReady: whether it had loaded everything; before that it had not seen the file.
    static func error(_ fault: ChildFault, _ ending: ChildProcess.Ending, isReady: Bool) -> AttachPrepError {
        switch fault {
        case .late: .deadlinePassed(at: "media work")
        case .overMemory(let bytes): overMemory(bytes)
        case .nonsense(let what): crash("answered nonsense: \(what)")
        case .unreachable(let what):
            AttachPrepError(.internal, "The media process could not be reached; try again.", detail: what)
        case .closed: isReady ? death(ending) : stillbirth(ending)
        }
    }

    private static func death(_ ending: ChildProcess.Ending) -> AttachPrepError {
        switch ending {
        case .killed(SIGXCPU):
            AttachPrepError(
                .mediaDecoderCrashed,
                "The decoder used more processor time on this file than the budget holds; send a simpler file.",
                detail: ending.sentence)
        // Nothing in a decoder sends these: somebody is ending our processes.
        case .killed(SIGTERM), .killed(SIGINT), .killed(SIGHUP), .killed(SIGQUIT):
            AttachPrepError(.internal, "The media process was ended from outside; try again.", detail: ending.sentence)
        case .killed, .exited: crash(ending.sentence)
        }
    }

    private static func overMemory(_ bytes: Int) -> AttachPrepError {
        AttachPrepError(
            .mediaDecoderCrashed,
            "The decoder needed more than \(Limits.childMemoryBytesMax / 1_000_000) MB of memory for this file; "
                + "send a smaller or simpler one.",
            detail: "resident memory of \(bytes) bytes")
    }

    private static func crash(_ detail: String) -> AttachPrepError {
        AttachPrepError(
            .mediaDecoderCrashed,
            "The decoder crashed on this file; try once more, then check the file at its source.", detail: detail)
    }

    private static func stillbirth(_ ending: ChildProcess.Ending) -> AttachPrepError {
        if ending == .exited(code: MediaChildExit.wallMissing) {
            return AttachPrepError(
                .sandboxUnavailable,
                "This machine cannot lock the media process down; run attachprep doctor to see what is missing.",
                isRetryable: false)
        }
        return AttachPrepError(
            .internal, "The media process ended before it could work; run attachprep doctor.",
            detail: ending.sentence, isRetryable: false)
    }
}

extension ChildProcess.Ending {
    /// As the log says it.
    var sentence: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .killed(let signal): "signal \(signal), \(unsafe String(cString: strsignal(signal)))"
        }
    }
}
