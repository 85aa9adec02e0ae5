internal import AttachPrepModel
internal import Crypto
internal import Curl
internal import Glibc
import Linux
package import MediaTypes
internal import SafeArithmetic
internal import Synchronization

/// Handles the callbacks of one request and its response on the curl thread.
final class DownloadExchange: TransferObserver {
    private struct State {
        var parser = ResponseHeadParser()
        var received = Received()
        /// Decodes the body; nil when it has no content coding.
        var decoder: ContentDecoder?
    }

    /// What is known after the transfer.
    struct Received: Sendable, Hashable {
        /// The head of the final response; nil when none was received completely.
        var head: ResponseHead?
        var verdict: ResponseVerdict?
        /// The first error with which a callback aborted the transfer.
        var abortError: AttachPrepError?
        /// The last header that was received completely; nil without one.
        var lastHeader: String?
        /// Whether the body does not match its `Content-Encoding`.
        var isUndecodable = false
        /// Whether the compressed stream is incomplete.
        var isCompressedStreamTruncated = false
    }

    private let host: String
    private let body: BodyFile
    private let addressPolicy: AddressPolicy
    private let traffic: TrafficCounter
    private let resumePoint: ResumePoint?
    private let condition: ConditionalRequest?
    private let decodesContent: Bool
    private let deadline: ContinuousClock.Instant
    private let prefixReady: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    /// - Parameters:
    ///   - decodesContent: Whether the response's content coding is decoded.
    ///   - deadline: Checked during decompression.
    ///   - prefixReady: Yields when a verdict on the body is due.
    init(
        host: String, body: BodyFile, addressPolicy: AddressPolicy, traffic: TrafficCounter = TrafficCounter(),
        resumePoint: ResumePoint?, condition: ConditionalRequest? = nil, decodesContent: Bool = true,
        deadline: ContinuousClock.Instant, prefixReady: AsyncStream<Void>.Continuation
    ) {
        self.host = host
        self.body = body
        self.addressPolicy = addressPolicy
        self.traffic = traffic
        self.resumePoint = resumePoint
        self.condition = condition
        self.decodesContent = decodesContent
        self.deadline = deadline
        self.prefixReady = prefixReady
    }

    var received: Received {
        state.withLock { state in
            var received = state.received
            received.lastHeader = state.parser.lastName
            received.isCompressedStreamTruncated = state.decoder?.isComplete == false
            return received
        }
    }

    /// Paused while a verdict on the body is pending: it may be rejected.
    var isPaused: Bool { body.isPaused }

    func mayConnect(to address: String) -> Bool {
        holds { () throws(AttachPrepError) in
            guard addressPolicy.allows(address) else { throw .blocked(host, detail: "\(address), when connecting") }
        }
    }

    func maySendRequest(to address: String) -> Bool {
        holds { () throws(AttachPrepError) in
            guard addressPolicy.allows(address) else {
                throw .blocked(host, detail: "\(address), on a connection in use")
            }
        }
    }

    func received(headerLine: UnsafeRawBufferPointer) -> Bool {
        holds { () throws(AttachPrepError) in
            let (head, parser) = state.withLock { state in (unsafe state.parser.parse(headerLine), state.parser) }
            guard parser.bytes <= Limits.headerBytesMax, parser.lines <= Limits.headerLinesMax else {
                throw .headersTooLarge(host, longest: parser.longestName)
            }
            if let head { try begin(head) }
        } && wantsBody
    }

    var hasHead: Bool { received.head != nil }

    func received(body piece: UnsafeRawBufferPointer, bytesSent: Int) -> Bool {
        traffic.add(piece.count)
        guard let verdict = received.verdict else {
            // After "101 Switching Protocols", the bytes belong to another protocol.
            return holds { () throws(AttachPrepError) in throw .notHTTP(host, detail: "bytes without a final answer") }
        }
        // The body of a redirect or an error is read only so that the connection can be reused.
        // A 304 has no body (RFC 9110, 15.4.5): a connection that sends one is not reused.
        guard verdict.hasContent else { return verdict != .unchanged }
        var fits = true
        let isTaken = holds { () throws(AttachPrepError) in
            guard let decoder = state.withLock({ $0.decoder }) else { return try unsafe append(piece) }
            let bytesMax = max(Limits.unpackedBytesFree, bytesSent.multiplied(clamping: Limits.unpackedShareMax))
            fits = try unsafe decoder.decode(piece, host: host) { (unpacked) throws(AttachPrepError) in
                guard decoder.bytesUnpacked <= bytesMax else { throw .decompressionRatioExceeded(host) }
                guard .now < deadline else { throw .deadlineExceeded(host) }
                try unsafe append(unpacked)
            }
        }
        if !fits { state.withLock { $0.received.isUndecodable = true } }
        return isTaken && fits
    }

    private func append(_ piece: UnsafeRawBufferPointer) throws(AttachPrepError) {
        guard unsafe !piece.isEmpty else { return }
        try checkRange(further: piece.count)
        if try unsafe body.append(piece) { prefixReady.yield() }
    }

    /// Decides from the complete head what the body is.
    private func begin(_ head: ResponseHead) throws(AttachPrepError) {
        let verdict = ResponseVerdict(head, resuming: resumePoint, asking: condition?.validators)
        state.withLock {
            $0.received.head = head
            $0.received.verdict = verdict
        }
        switch verdict {
        case .whole(let total):
            let coding = decodesContent ? ContentCoding(head) : .none
            guard coding != .rejected else { throw .rejectedCoding(host) }
            if coding != .none { state.withLock { $0.decoder = ContentDecoder(coding) } }
            try body.restart()
            // The length of an encoded body is not that of the file, but the file is rarely smaller.
            try body.check(declared: head.contentLength)
            try body.declare(total: total)
        case .continuation(let total):
            try body.check(declared: head.contentRange?.end)
            try body.declare(total: total)
        default: break
        }
    }

    /// Rejects a range response without a declared length that has more bytes than its range.
    private func checkRange(further bytes: Int) throws(AttachPrepError) {
        guard let head = received.head, head.status == 206, !head.isEncoded, let range = head.contentRange else {
            return
        }
        guard body.bytes.adding(clamping: bytes) <= range.end else {
            throw .ambiguousHeader(host, field: "Content-Range")
        }
    }

    /// Whether to read the body: a long unneeded body ends the transfer, a short one is read so that the connection can
    /// be reused.
    private var wantsBody: Bool {
        let received = received
        guard let head = received.head, let verdict = received.verdict, !verdict.hasContent else { return true }
        if case .ambiguous = verdict { return false }
        if verdict == .unchanged { return true }
        return head.contentLength.map { $0 <= Limits.discardedBodyBytesMax } ?? false
    }

    private func holds(_ check: () throws(AttachPrepError) -> Void) -> Bool {
        do {
            try check()
            return true
        } catch {
            state.withLock { $0.received.abortError = $0.received.abortError ?? error }
            return false
        }
    }
}

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
    }

    /// Borrowed from the caller.
    private let descriptor: CInt
    private let bytesMax: Int
    private let observer: (any DownloadObserver)?
    private let state = Mutex(State())

    init(descriptor: CInt, bytesMax: Int, observer: (any DownloadObserver)? = nil) {
        self.observer = observer
        self.descriptor = descriptor
        self.bytesMax = bytesMax
    }

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
    var sha256: String { state.withLock { $0.hasher.finalize().hexadecimal } }

    /// Truncates the file and starts the next generation; the verdicts start over, since the content may differ.
    ///
    /// - Throws: `output.not_writable`.
    func restart() throws(AttachPrepError) {
        let generation = try state.withLock { state throws(AttachPrepError) in
            state = State(generation: state.generation + 1)
            guard isEmpty || ftruncate(descriptor, 0) == 0 else { throw OutputErrors.error(errno) }
            return state.generation
        }
        observer?.bodyBegan(generation: generation)
    }

    /// Avoids a needless `ftruncate`: ext4 flushes a truncated file to disk on close, even one that was empty before.
    private var isEmpty: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_size == 0
    }

    /// Stores the size of the whole body that the server declared.
    ///
    /// - Throws: The error of the limit that the size exceeds.
    func declare(total: Int?) throws(AttachPrepError) {
        try state.withLock { state throws(AttachPrepError) in
            state.total = total
            try check(max(total ?? 0, state.bytes), state: state)
        }
    }

    /// Checks a byte count declared by the server against the limits.
    ///
    /// - Throws: The error of the limit that it exceeds.
    func check(declared bytes: Int?) throws(AttachPrepError) {
        try state.withLock { state throws(AttachPrepError) in try check(bytes ?? 0, state: state) }
    }

    /// Appends one piece to the file.
    ///
    /// - Returns: Whether a verdict is due.
    /// - Throws: The error of the size limit, before any byte over it is written; `output.no_space`;
    ///   `output.not_writable`.
    func append(_ piece: UnsafeRawBufferPointer) throws(AttachPrepError) -> Bool {
        let (isDue, bytes, total) = try state.withLock { state throws(AttachPrepError) in
            try check(state.bytes.adding(clamping: piece.count), state: state)
            try unsafe write(piece, at: state.bytes)
            unsafe state.hasher.update(bufferPointer: piece)
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
            try check(max(state.total ?? 0, state.bytes), state: state)
            // Only when `check` did not throw: a rejected transfer stays paused until it has ended.
            state.isCheckPending = false
        }
    }

    private func check(_ bytes: Int, state: borrowing State) throws(AttachPrepError) {
        if case .accepted(let limit, let tooLarge) = state.verdict, bytes > limit { throw tooLarge }
        if bytes > bytesMax { throw .bodyTooLarge(bytesMax) }
        if state.isUnidentified, state.bytes > Limits.unidentifiedBytesMax { throw .unidentifiedBody }
    }

    private func write(_ piece: UnsafeRawBufferPointer, at start: Int) throws(AttachPrepError) {
        do { try unsafe FileIO.write(piece, to: descriptor, at: start) } catch {
            throw OutputErrors.error(error.code)
        }
    }
}

extension Limits {
    /// Response header bytes, summed over informational responses, the head and trailers. Servers accept 8 to 16 KB of
    /// request headers; 64 KB is an attack.
    static let headerBytesMax = 65_536
    /// Response header lines, summed likewise: sites with long policies send some 60; a thousand is an attack.
    static let headerLinesMax = 1_000
    /// Largest expansion factor of a body with a Content-Encoding: media hardly compresses, and even flat BMPs and
    /// silent WAVs are not sent with one.
    static let unpackedShareMax = 100
    /// Decoded bytes that are accepted at any ratio: a small text or flat image may shrink a thousandfold.
    static let unpackedBytesFree = 1_000_000
    /// The body of a redirect or error is read up to this length to reuse the connection; longer ones close it.
    static let discardedBodyBytesMax = 16_384
    /// The most that is downloaded of content that is still unidentified: formats that are identified only as a whole
    /// (a song after a broken tag with cover art) are small, and unknown content would fill the disk.
    package static let unidentifiedBytesMax = 20_000_000
}
