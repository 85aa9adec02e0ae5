internal import AttachPrepModel
internal import Crypto
import FileIO
internal import Glibc
package import RichPush
internal import SafeArithmetic
internal import Synchronization

/// Writes a response body to a file as it is received: counts and hashes the bytes, enforces the size limits, and marks
/// when the caller's verdict on the prefix is due.
///
/// The curl thread appends; the download's task obtains the verdicts. Bytes are written with `pwrite`: the descriptor
/// may be shared with a media process that reads the prefix, and a shared descriptor shares its file offset.
final class BodyFile: Sendable {
    private struct State {
        /// How many times the body has started. Bytes of one generation are written once and never changed.
        var generation = 0
        var bytes = 0
        var total: Int?
        var hasher = SHA256()
        var verdict = DownloadVerdict.undecided
        /// Byte counts at which a verdict is due; each is used once.
        var marks = [Limits.identifyBytesFirst, Limits.identifyBytesLast]
        /// Whether a verdict is pending, or was given and rejected the body.
        var isCheckPending = false
        /// Whether the verdict at the last mark was `undecided`.
        var isUnidentified = false

        /// The part of a piece that a verdict about a prefix leaves.
        func wanted(_ piece: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            guard case .prefix(let bytesMax) = verdict else { return unsafe piece }
            let left = max(0, bytesMax.subtracting(clamping: bytes))
            return unsafe UnsafeRawBufferPointer(rebasing: piece.prefix(left))
        }
    }

    /// Borrowed from the caller.
    private let descriptor: CInt
    /// The offset of the body in the file.
    private let start: Int
    private let bytesMax: Int
    private let observer: (any DownloadObserver)?
    private let state = Mutex(State())

    init(descriptor: CInt, start: Int = 0, bytesMax: Int, observer: (any DownloadObserver)? = nil) {
        self.observer = observer
        self.descriptor = descriptor
        self.start = start
        self.bytesMax = bytesMax
    }

    /// The beginning of the body, for formats that are recognized by a few characters.
    var firstBytes: [UInt8] { (try? FileIO.bytes(descriptor, at: start, count: 16)) ?? [] }
    var bytes: Int { state.withLock { $0.bytes } }
    var generation: Int { state.withLock { $0.generation } }
    /// The declared size of the whole body in bytes; nil if the server declared none.
    var total: Int? { state.withLock { $0.total } }
    /// Whether reading should pause because a pending verdict may reject the body.
    var isPaused: Bool {
        state.withLock { state in
            guard state.bytes < state.total ?? .max else { return false }
            let isDue = state.verdict == .undecided && (state.marks.first.map { $0 <= state.bytes } ?? false)
            return state.isCheckPending || isDue
        }
    }
    var isUndecided: Bool { state.withLock { $0.verdict == .undecided } }
    /// Whether only a prefix is wanted.
    var isPrefix: Bool { state.withLock { if case .prefix = $0.verdict { true } else { false } } }
    /// Whether a prefix is wanted and was received.
    var isPrefixComplete: Bool {
        state.withLock { state in
            guard case .prefix(let bytesMax) = state.verdict else { return false }
            return state.bytes >= bytesMax
        }
    }
    var sha256: String { state.withLock { $0.hasher.finalize().hexadecimal } }

    /// Truncates the file and starts the next generation; the verdicts start over, since the content may differ.
    ///
    /// - Throws: `output.not_writable`.
    func restart() throws(AttachPrepError) {
        let generation = try state.withLock { state throws(AttachPrepError) in
            // Bounded: counts the restarts of one download, which the retry schedule limits.
            state = State(generation: state.generation + 1)
            guard isEmpty || ftruncate(descriptor, start) == 0 else { throw OutputErrors.error(errno) }
            return state.generation
        }
        observer?.bodyBegan(generation: generation)
    }

    /// Avoids a needless `ftruncate`: ext4 flushes a truncated file to disk on close, even one that was empty before.
    private var isEmpty: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_size == start
    }

    /// Stores the size of the whole body that the server declared.
    ///
    /// - Throws: The error of the limit that the size exceeds.
    func declare(total: Int?) throws(AttachPrepError) {
        try state.withLock { state throws(AttachPrepError) in
            state.total = total
            try check(max(total ?? 0, state.bytes), state)
        }
    }

    /// Checks a byte count declared by the server against the limits.
    ///
    /// - Throws: The error of the limit that it exceeds.
    func check(declared bytes: Int?) throws(AttachPrepError) {
        try state.withLock { state throws(AttachPrepError) in try check(bytes ?? 0, state) }
    }

    /// Appends one piece to the file.
    ///
    /// - Returns: Whether a verdict is due.
    /// - Throws: The error of the size limit, before any byte over it is written; `output.no_space`;
    ///   `output.not_writable`.
    func append(_ piece: UnsafeRawBufferPointer) throws(AttachPrepError) -> Bool {
        let (isDue, bytes, total) = try state.withLock { state throws(AttachPrepError) in
            let piece = unsafe state.wanted(piece)
            try check(state.bytes.adding(clamping: piece.count), state)
            try unsafe write(piece, at: state.bytes)
            unsafe state.hasher.update(bufferPointer: piece)
            // Bounded: `check` threw above for a sum over the limit.
            state.bytes += piece.count
            let isDue = state.verdict == .undecided && (state.marks.first.map { $0 <= state.bytes } ?? false)
            return (isDue, state.bytes, state.total)
        }
        observer?.received(bytes: bytes, of: total)
        return isDue
    }

    /// Marks the due verdict as pending and returns the byte count it is about; nil when none is due.
    func takePendingCheck() -> Int? {
        state.withLock { state in
            guard state.verdict == .undecided, let mark = state.marks.first, mark <= state.bytes else { return nil }
            let bytes = state.bytes
            state.marks.removeAll { $0 <= bytes }
            state.isCheckPending = true
            return bytes
        }
    }

    /// Applies the caller's verdict.
    ///
    /// - Throws: The verdict's `tooLarge` error when the received or declared size exceeds its limit.
    func accept(_ verdict: DownloadVerdict) throws(AttachPrepError) {
        try state.withLock { state throws(AttachPrepError) in
            state.verdict = verdict
            state.isUnidentified = verdict == .undecided && state.marks.isEmpty
            try check(max(state.total ?? 0, state.bytes), state)
            // Only when `check` did not throw: a rejected transfer stays paused until it has ended.
            state.isCheckPending = false
        }
    }

    private func check(_ bytes: Int, _ state: borrowing State) throws(AttachPrepError) {
        if case .accepted(let limit, let tooLarge) = state.verdict, bytes > limit { throw tooLarge }
        if bytes > bytesMax { throw .bodyTooLarge(bytesMax) }
        if state.isUnidentified, state.bytes > Limits.unidentifiedBytesMax { throw .unidentifiedBody }
    }

    private func write(_ piece: UnsafeRawBufferPointer, at start: Int) throws(AttachPrepError) {
        do { try unsafe FileIO.write(piece, to: descriptor, at: self.start.adding(clamping: start)) } catch {
            throw OutputErrors.error(error.code)
        }
    }
}

extension Limits {
    /// The most that is downloaded of content that is still unidentified: formats that are identified only as a whole
    /// (a song after a broken tag with cover art) are small, and unknown content would fill the disk.
    package static let unidentifiedBytesMax = 20_000_000
}
