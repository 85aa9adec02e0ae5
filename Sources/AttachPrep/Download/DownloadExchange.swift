internal import AttachPrepModel
internal import Curl
internal import RichPush
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
    private let range: ResourceRange?
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
        resumePoint: ResumePoint?, range: ResourceRange? = nil,
        condition: ConditionalRequest? = nil, decodesContent: Bool = true, deadline: ContinuousClock.Instant,
        prefixReady: AsyncStream<Void>.Continuation
    ) {
        self.host = host
        self.body = body
        self.addressPolicy = addressPolicy
        self.traffic = traffic
        self.resumePoint = resumePoint
        self.range = range
        self.condition = condition
        self.decodesContent = decodesContent
        self.deadline = deadline
        self.prefixReady = prefixReady
    }

    var received: Received {
        state.withLock { state in
            var received = state.received
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
            let (head, bytes, lines) = state.withLock { state in
                (unsafe state.parser.parse(headerLine), state.parser.bytes, state.parser.lines)
            }
            guard bytes <= Limits.headerBytesMax, lines <= Limits.headerLinesMax else { throw .headersTooLarge(host) }
            if let head { try begin(head) }
        } && wantsBody
    }

    var hasHead: Bool { received.head != nil }

    func received(body piece: UnsafeRawBufferPointer, bytesSent: Int) -> Bool {
        traffic.add(piece.count)
        guard let verdict = received.verdict else {
            // After "101 Switching Protocols", the bytes belong to another protocol.
            return holds { () throws(AttachPrepError) in throw .notHTTP(host, "bytes without a final answer") }
        }
        // The body of a redirect or an error is read only so that the connection can be reused.
        // A 304 has no body (RFC 9110, 15.4.5): a connection that sends one is not reused.
        guard verdict.hasContent else { return verdict != .unchanged }
        var fits = true
        let isTaken = holds { () throws(AttachPrepError) in
            guard let decoder = state.withLock({ $0.decoder }) else { return try unsafe append(piece) }
            let bytesMax = max(Limits.unpackedBytesFree, bytesSent.multiplied(clamping: Limits.unpackedShareMax))
            fits = try unsafe decoder.decode(piece, host) { (unpacked) throws(AttachPrepError) in
                guard decoder.bytesUnpacked <= bytesMax else { throw .decompressionRatioExceeded(host) }
                guard .now < deadline else { throw .deadlineExceeded(host) }
                try unsafe append(unpacked)
            }
        }
        if !fits { state.withLock { $0.received.isUndecodable = true } }
        return isTaken && fits && !body.isPrefixComplete
    }

    private func append(_ piece: UnsafeRawBufferPointer) throws(AttachPrepError) {
        guard unsafe !piece.isEmpty else { return }
        try checkRange(further: piece.count)
        if try unsafe body.append(piece) { prefixReady.yield() }
    }

    /// Decides from the complete head what the body is.
    private func begin(_ head: ResponseHead) throws(AttachPrepError) {
        let verdict = ResponseVerdict(head, resuming: resumePoint, range: range, asking: condition?.validators)
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
        let end = self.range == nil ? range.end : range.length
        guard body.bytes.adding(clamping: bytes) <= end else { throw .ambiguousHeader(host, "Content-Range") }
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
}
