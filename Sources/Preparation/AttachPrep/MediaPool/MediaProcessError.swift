import AttachPrepModel
import Glibc
import Linux
import MediaEngine
import MediaTypes
import SafeArithmetic

/// Why a media process is ended during a call.
enum MediaProcessError: Error, Hashable {
    /// The deadline passed.
    case deadlineExceeded
    /// It closed its socket, as a crashed process does.
    case connectionClosed
    /// It exceeded its memory limit; resident bytes.
    case memoryLimitExceeded(Int)
    /// It sent a message that is malformed or out of range.
    case invalidAnswer(String)
    /// Its socket failed.
    case unreachable(String)
}

/// Maps the end of a media process to the error of its call. Pure.
///
/// `media.decoder_crashed` and `media.too_complex` blame the file and add a strike against it; an end caused from
/// outside is `internal`, and at a deadline nobody is blamed.
enum ProcessEndingDiagnosis {
    /// - Parameters:
    ///   - isReady: Whether it had loaded its libraries; before that it had not received the file.
    ///   - allowance: The processor time that the call was allowed.
    static func error(
        _ error: MediaProcessError, ending: ChildProcess.Ending, isReady: Bool, allowance: ProcessorAllowance?
    ) -> AttachPrepError {
        switch error {
        case .deadlineExceeded: .deadlinePassed(at: "media work")
        case .memoryLimitExceeded(let bytes): memoryLimitExceeded(bytes)
        case .invalidAnswer(let what): crash("invalid answer: \(what)")
        case .unreachable(let what):
            AttachPrepError(.internal, "The media process could not be reached; try again.", detail: what)
        case .connectionClosed: isReady ? terminated(ending, allowance: allowance) : startupError(ending)
        }
    }

    private static func terminated(
        _ ending: ChildProcess.Ending, allowance: ProcessorAllowance?
    ) -> AttachPrepError {
        switch ending {
        // While it encodes, it may use what all cores can give until its deadline.
        case .killed(SIGXCPU) where allowance?.isEncoding == true: .deadlinePassed(at: "media work")
        case .killed(SIGXCPU): processorLimitExceeded(ending, allowance: allowance)
        // Decoders do not raise these signals, so they were sent from outside.
        case .killed(SIGTERM), .killed(SIGINT), .killed(SIGHUP), .killed(SIGQUIT):
            AttachPrepError(.internal, "The media process was ended from outside; try again.", detail: ending.sentence)
        case .killed, .exited: crash(ending.sentence)
        }
    }

    private static func processorLimitExceeded(
        _ ending: ChildProcess.Ending, allowance: ProcessorAllowance?
    ) -> AttachPrepError {
        let seconds = (allowance?.seconds ?? Limits.callProcessorSecondsMin).rounded(.up)
        return AttachPrepError(
            .mediaTooComplex,
            "Decoding took more than the \(Int(clamping: seconds)) s of processor time that a file of this size may "
                + "take; send a simpler file.",
            detail: ending.sentence)
    }

    private static func memoryLimitExceeded(_ bytes: Int) -> AttachPrepError {
        AttachPrepError(
            .mediaDecoderCrashed,
            "The decoder needed more than \(Limits.mediaProcessMemoryBytesMax / 1_000_000) MB of memory for this file; "
                + "send a smaller or simpler one.",
            detail: "resident memory of \(bytes) bytes")
    }

    private static func crash(_ detail: String) -> AttachPrepError {
        AttachPrepError(
            .mediaDecoderCrashed,
            "The decoder crashed on this file; try once more, then check the file at its source.", detail: detail)
    }

    private static func startupError(_ ending: ChildProcess.Ending) -> AttachPrepError {
        if ending == .exited(code: MediaProcessExit.sandboxUnavailable) {
            return AttachPrepError(
                .sandboxUnavailable,
                "The media process cannot be sandboxed on this machine; run attachprep doctor to see why.",
                isRetryable: false)
        }
        // From outside, as the kernel does for want of memory: another attempt can succeed.
        if [SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT].contains(where: { ending == .killed(signal: $0) }) {
            return AttachPrepError(
                .internal, "The media process was killed while it was starting; try again.", detail: ending.sentence)
        }
        return AttachPrepError(
            .internal, "The media process ended while it was starting; run attachprep doctor.",
            detail: ending.sentence, isRetryable: false)
    }
}

extension ChildProcess.Ending {
    /// Text for logs and error details.
    var sentence: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .killed(let signal): "signal \(signal), \(unsafe String(cString: strsignal(signal)))"
        }
    }
}
