import Glibc
import Linux
import RichPush
import SafeArithmetic
import Synchronization

/// How the process before this one ended.
enum FormerEnd: Sendable, Hashable {
    /// In order, or there was none.
    case orderly
    /// By a fault of its own, with this signal.
    case crashed(signal: Int)
    /// Without a mark: it was killed, or the machine went down.
    case unmarked
}

/// A small file in the data folder that tells the next process how this one ended.
///
/// Its first line is `CrashMark`'s. The second one names the process's worker, so that one of several machines that
/// share a queue knows which jobs were its own.
final class RunRecord: Sendable {
    /// How the process before this one ended.
    let former: FormerEnd
    /// What its worker was called; nil when it had none.
    let formerWorker: String?
    private let path: String
    private let marksCrashes: Bool

    private struct State {
        var descriptor: CInt = -1
        var mark: CrashMark?
        var worker: String?
    }

    private let state = Mutex(State())

    /// Reads what the process before this one left; changes nothing yet, so that it is read again when this one ends
    /// before it has acted on it.
    ///
    /// - Parameters:
    ///   - folder: held by this process alone.
    ///   - marksCrashes: whether a crash of this process leaves its mark: signal handlers are the program's to install.
    init(folder: String, marksCrashes: Bool) {
        path = "\(folder)/run"
        self.marksCrashes = marksCrashes
        (former, formerWorker) = Self.parse(Self.read(path))
    }

    /// More was not written by us.
    private static let bytesMax = 4_096

    /// Pure. What is not ours is taken for no mark.
    static func parse(_ text: String?) -> (FormerEnd, worker: String?) {
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

    /// Begins this process's own record; what the former one left has been acted on.
    ///
    /// - Throws: `queue.unavailable` when it cannot be written.
    func begin() throws {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StoreFolder.refusal(path, errno) }
        Self.write(CrashMark.running, at: 0, to: descriptor)
        let mark = marksCrashes ? try? CrashMark(descriptor: descriptor) : nil
        state.withLock { state in
            state.descriptor = descriptor
            state.mark = mark
        }
    }

    /// Notes what this process's worker is called, once.
    func note(worker: String) {
        state.withLock { state in
            guard state.worker == nil, state.descriptor >= 0 else { return }
            state.worker = worker
            let line = String(worker.filter { !$0.isNewline }.prefix(Self.nameCharactersMax))
            Self.write("\(line)\n", at: CrashMark.running.utf8.count, to: state.descriptor)
        }
    }

    private static let nameCharactersMax = 256

    /// An orderly end.
    func end() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            Self.write(CrashMark.ended, at: 0, to: state.descriptor)
            if let mark = state.mark { mark.end() } else { close(state.descriptor) }
            state.descriptor = -1
            state.mark = nil
        }
    }

    /// A record that cannot be written is no reason to stop: crashes then count as ends without a mark.
    private static func write(_ text: String, at offset: Int, to descriptor: CInt) {
        let bytes = Array(text.utf8)
        _ = unsafe pwrite(descriptor, bytes, bytes.count, off_t(clamping: offset))
    }

    deinit {
        // Opened and never closed: as if it had been killed.
        let descriptor = state.withLock { state in state.mark == nil ? state.descriptor : -1 }
        if descriptor >= 0 { close(descriptor) }
    }
}
