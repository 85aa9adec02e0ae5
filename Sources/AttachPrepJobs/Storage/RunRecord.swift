import Glibc
import Linux
import Logging
import RichPush
import SafeArithmetic
import Synchronization

/// How the previous process ended.
package enum PreviousExit: Sendable, Hashable {
    /// An orderly end, or there was no previous process.
    case orderly
    case crashed(signal: Int)
    /// No mark: the process was killed, or the machine went down.
    case unmarked
}

/// A small file in the data folder from which the next process reads how this one ended.
///
/// Line 1 is the `CrashMark`. Line 2 is the name of the process's worker, so that each of several machines that share a
/// queue can identify its own jobs.
package final class RunRecord: Sendable {
    package let previousExit: PreviousExit
    /// Name of the previous process's worker; nil when it had none.
    package let previousWorker: String?
    private let path: String
    private let marksCrashes: Bool

    private struct State {
        var descriptor: CInt = -1
        var mark: CrashMark?
        var worker: String?
    }

    private let state = Mutex(State())

    /// Reads the record of the previous process. Changes nothing yet, so that the record is read again if this process
    /// ends before it has acted on it.
    ///
    /// - Parameters:
    ///   - folder: locked by this process.
    ///   - marksCrashes: whether a crash of this process writes a mark; the program installs the signal handlers.
    package init(folder: String, marksCrashes: Bool) {
        path = "\(folder)/run"
        self.marksCrashes = marksCrashes
        (previousExit, previousWorker) = Self.parse(Self.read(path))
    }

    /// Records are shorter; a longer file is read only up to this size.
    private static let bytesMax = 4_096

    /// Parses a record. Unknown content counts as no mark.
    package static func parse(_ text: String?) -> (PreviousExit, worker: String?) {
        guard let text else { return (.orderly, nil) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let worker = lines.dropFirst().first.flatMap { $0.isEmpty ? nil : String($0) }
        guard let mark = lines.first else { return (.unmarked, nil) }
        if mark.hasPrefix(CrashMark.crashed) {
            let signal = Int(mark.dropFirst(CrashMark.crashed.count).prefix { $0.isNumber }) ?? 0
            return (.crashed(signal: signal), worker)
        }
        return (CrashMark.ended.hasPrefix(mark + "\n") ? .orderly : .unmarked, worker)
    }

    private static func read(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Starts this process's record, after the previous one has been acted on.
    ///
    /// - Throws: `queue.unavailable` when it cannot be written.
    package func begin() throws {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DataFolder.unusableError(path, errno) }
        Self.write(CrashMark.running, at: 0, to: descriptor)
        let mark = marksCrashes ? try? CrashMark(descriptor: descriptor) : nil
        state.withLock { state in
            state.descriptor = descriptor
            state.mark = mark
        }
    }

    /// Writes the name of this process's worker, once.
    package func record(worker: String) {
        state.withLock { state in
            guard state.worker == nil, state.descriptor >= 0 else { return }
            state.worker = worker
            let line = String(worker.filter { !$0.isNewline }.prefix(Self.nameCharactersMax))
            Self.write("\(line)\n", at: CrashMark.running.utf8.count, to: state.descriptor)
        }
    }

    private static let nameCharactersMax = 256

    /// Writes the mark of an orderly end.
    package func end() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            Self.write(CrashMark.ended, at: 0, to: state.descriptor)
            if let mark = state.mark { mark.end() } else { close(state.descriptor) }
            state.descriptor = -1
            state.mark = nil
        }
    }

    /// Failed writes are ignored: crashes then count as ends without a mark.
    private static func write(_ text: String, at offset: Int, to descriptor: CInt) {
        let bytes = Array(text.utf8)
        _ = unsafe pwrite(descriptor, bytes, bytes.count, off_t(clamping: offset))
    }

    deinit {
        // Opened but never ended: leave the file as after a kill.
        let descriptor = state.withLock { state in state.mark == nil ? state.descriptor : -1 }
        if descriptor >= 0 { close(descriptor) }
    }
}

package struct CrashedJob: Sendable, Hashable {
    package var id: JobID
    /// Number of crashes, including this one.
    package var crashes: Int

    package init(id: JobID, crashes: Int) {
        self.id = id
        self.crashes = crashes
    }
}

extension Logger {
    /// Logs one line for the crash, and one for each job that was in flight.
    package func report(_ jobs: [CrashedJob], webhooks: Int = 0, signal: Int) {
        error(
            "the previous process crashed",
            metadata: ["signal": "\(signal)", "jobs": "\(jobs.count)", "webhooks": "\(webhooks)"])
        for job in jobs {
            error(
                job.crashes >= CrashPolicy.crashesMax
                    ? "a job crashed the process too often; it is dead" : "a job was in flight; it runs alone next",
                metadata: ["job": "\(job.id)", "crashes": "\(job.crashes)", "signal": "\(signal)"])
        }
    }
}
