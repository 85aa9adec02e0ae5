internal import Crypto
internal import RichPush
internal import SafeArithmetic
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The file a body goes to as it arrives: counts, hashes, and asks for a verdict when it is time.
///
/// The curl thread appends, the download's task asks and answers. Bytes are written by position: the descriptor may be
/// shared with a child that reads the prefix, and a shared descriptor shares its offset.
final class BodyFile: Sendable {
    private struct State {
        /// How many times the body has begun; the bytes of one generation are written once and stay as they are.
        var generation = 0
        var bytes = 0
        var total: Int?
        var hasher = SHA256()
        var verdict = DownloadVerdict.undecided
        /// The byte counts at which a question is due, each asked once.
        var marks = [Limits.identifyBytesFirst, Limits.identifyBytesLast]
        /// Whether a question is being answered, or was with a refusal.
        var isAsked = false
        /// Whether the last question before the end was answered, and not decided.
        var isUnnamed = false
    }

    /// Borrowed from the caller.
    private let descriptor: CInt
    private let bytesMax: Int
    private let observer: (any ArrivalObserver)?
    private let state = Mutex(State())

    init(descriptor: CInt, bytesMax: Int, observer: (any ArrivalObserver)? = nil) {
        self.observer = observer
        self.descriptor = descriptor
        self.bytesMax = bytesMax
    }

    var bytes: Int { state.withLock { $0.bytes } }
    var generation: Int { state.withLock { $0.generation } }
    /// What the server said the whole is; nil when it did not.
    var total: Int? { state.withLock { $0.total } }
    /// Whether what comes next may be refused by an answer that is awaited.
    var isHeld: Bool {
        state.withLock { state in
            guard state.bytes < state.total ?? .max else { return false }
            let isDue = state.verdict == .undecided && (state.marks.first.map { $0 <= state.bytes } ?? false)
            return state.isAsked || isDue
        }
    }
    var isUndecided: Bool { state.withLock { $0.verdict == .undecided } }
    var sha256: String { state.withLock { $0.hasher.finalize().hexadecimal } }

    /// Empties the file: the body begins, perhaps anew and with other content, so the verdict is asked for again.
    ///
    /// - Throws: `output.not_writable`.
    func restart() throws(AttachPrepError) {
        let generation = try state.withLock { state throws(AttachPrepError) in
            // Bounded: counts our own restarts.
            state = State(generation: state.generation + 1)
            guard isEmpty || ftruncate(descriptor, 0) == 0 else { throw OutputFailure.error(errno) }
            return state.generation
        }
        observer?.bodyBegan(generation: generation)
    }

    /// ext4 writes a file that was truncated to the disk before it closes it, be it empty when it was.
    private var isEmpty: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_size == 0
    }

    /// Takes note of what the server says the whole will be.
    ///
    /// - Throws: the ceiling's error when that is too much.
    func declare(total: Int?) throws(AttachPrepError) {
        try state.withLock { state throws(AttachPrepError) in
            state.total = total
            try check(max(total ?? 0, state.bytes), state)
        }
    }

    /// Holds a number that the server names against the ceiling.
    ///
    /// - Throws: the ceiling's error when it is too much.
    func check(declared bytes: Int?) throws(AttachPrepError) {
        try state.withLock { state throws(AttachPrepError) in try check(bytes ?? 0, state) }
    }

    /// Writes one piece.
    ///
    /// - Returns: whether a question is due.
    /// - Throws: the ceiling's error before anything over it is written, `output.no_space`, `output.not_writable`.
    func append(_ piece: UnsafeRawBufferPointer) throws(AttachPrepError) -> Bool {
        let (isDue, bytes, total) = try state.withLock { state throws(AttachPrepError) in
            try check(state.bytes.adding(clamping: piece.count), state)
            try unsafe write(piece, at: state.bytes)
            unsafe state.hasher.update(bufferPointer: piece)
            // Bounded: `check` refused more than the ceiling before.
            state.bytes += piece.count
            let isDue = state.verdict == .undecided && (state.marks.first.map { $0 <= state.bytes } ?? false)
            return (isDue, state.bytes, state.total)
        }
        observer?.arrived(bytes: bytes, of: total)
        return isDue
    }

    /// The byte count to ask about now; nil when no question is due.
    func takeQuestion() -> Int? {
        state.withLock { state in
            guard state.verdict == .undecided, let mark = state.marks.first, mark <= state.bytes else { return nil }
            let bytes = state.bytes
            state.marks.removeAll { $0 <= bytes }
            state.isAsked = true
            return bytes
        }
    }

    /// Takes the caller's verdict.
    ///
    /// - Throws: the verdict's own error when the body is, or declares itself, larger than it allows.
    func accept(_ verdict: DownloadVerdict) throws(AttachPrepError) {
        try state.withLock { state throws(AttachPrepError) in
            state.verdict = verdict
            state.isUnnamed = verdict == .undecided && state.marks.isEmpty
            try check(max(state.total ?? 0, state.bytes), state)
            // Not where that throws: the transfer ends then, and is held until it has.
            state.isAsked = false
        }
    }

    private func check(_ bytes: Int, _ state: borrowing State) throws(AttachPrepError) {
        if case .accepted(let limit, let tooLarge) = state.verdict, bytes > limit { throw tooLarge }
        if bytes > bytesMax { throw .bodyTooLarge(bytesMax) }
        if state.isUnnamed, state.bytes > Limits.unnamedBytesMax { throw .unnamedBody }
    }

    private func write(_ piece: UnsafeRawBufferPointer, at start: Int) throws(AttachPrepError) {
        var done = 0
        while done < piece.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: piece[done...])
            // Bounded: the same 64 bits.
            let written = unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(start.adding(clamping: done)))
            if written > 0 {
                // Bounded: at most the piece.
                done += written
            } else if written == 0 || errno != EINTR {
                throw OutputFailure.error(written == 0 ? EIO : errno)
            }
        }
    }
}
