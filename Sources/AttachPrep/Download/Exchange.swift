internal import Curl
internal import RichPush
internal import SafeArithmetic
internal import Synchronization

/// One request and its answer, as the curl thread sees it.
final class Exchange: TransferObserver {
    private struct State {
        var collector = HeadCollector()
        var outcome = Outcome()
        /// Takes the body's coding off; nil for one that comes as it is.
        var decoder: ContentDecoder?
    }

    /// What is known when the transfer is over.
    struct Outcome: Sendable, Hashable {
        /// The final answer's head; nil when none came whole.
        var head: ResponseHead?
        var verdict: ResponseVerdict?
        /// Our own reason for ending the transfer.
        var refusal: AttachPrepError?
        /// Whether the body is not what its Content-Encoding says.
        var isUndecodable = false
        /// Whether the end of what was packed is still missing.
        var isHalfUnpacked = false
    }

    private let host: String
    private let body: BodyFile
    private let wall: AddressWall
    private let traffic: TrafficCounter
    private let resumePoint: ResumePoint?
    private let condition: ConditionalRequest?
    private let decodesContent: Bool
    private let deadline: ContinuousClock.Instant
    private let look: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    /// - Parameters:
    ///   - decodesContent: whether a coding that the answer names is taken off.
    ///   - deadline: looked at while a body is unpacked.
    ///   - look: told when the body asks for a verdict.
    init(
        host: String, body: BodyFile, wall: AddressWall, traffic: TrafficCounter = TrafficCounter(),
        resumePoint: ResumePoint?,
        condition: ConditionalRequest? = nil, decodesContent: Bool = true, deadline: ContinuousClock.Instant,
        look: AsyncStream<Void>.Continuation
    ) {
        self.host = host
        self.body = body
        self.wall = wall
        self.traffic = traffic
        self.resumePoint = resumePoint
        self.condition = condition
        self.decodesContent = decodesContent
        self.deadline = deadline
        self.look = look
    }

    var outcome: Outcome {
        state.withLock { state in
            var outcome = state.outcome
            outcome.isHalfUnpacked = state.decoder?.isComplete == false
            return outcome
        }
    }

    /// While it is asked what the body is, no more of it is wanted: it may be refused.
    var isHeld: Bool { body.isHeld }

    func mayConnect(to address: String) -> Bool {
        holds { () throws(AttachPrepError) in
            guard wall.allows(address) else { throw .blocked(host, detail: "\(address), when connecting") }
        }
    }

    func maySendRequest(to address: String) -> Bool {
        holds { () throws(AttachPrepError) in
            guard wall.allows(address) else { throw .blocked(host, detail: "\(address), on a connection in use") }
        }
    }

    func received(headerLine: UnsafeRawBufferPointer) -> Bool {
        holds { () throws(AttachPrepError) in
            let (head, bytes, lines) = state.withLock { state in
                (unsafe state.collector.collect(headerLine), state.collector.bytes, state.collector.lines)
            }
            guard bytes <= Limits.headerBytesMax, lines <= Limits.headerLinesMax else { throw .headersTooLarge(host) }
            if let head { try begin(head) }
        } && wantsBody
    }

    var hasHead: Bool { outcome.head != nil }

    func received(body piece: UnsafeRawBufferPointer, bytesSent: Int) -> Bool {
        traffic.add(piece.count)
        guard let verdict = outcome.verdict else {
            // After "101 Switching Protocols" comes another protocol.
            return holds { () throws(AttachPrepError) in throw .notHTTP(host, "bytes without a final answer") }
        }
        // What a redirect or an error says is read for the connection's sake alone.
        // Behind "not modified" there is none (RFC 9110, 15.4.5): who sends one all the same need not be used again.
        guard verdict.hasContent else { return verdict != .unchanged }
        var fits = true
        let isTaken = holds { () throws(AttachPrepError) in
            guard let decoder = state.withLock({ $0.decoder }) else { return try unsafe take(piece) }
            let bytesMax = max(Limits.unpackedBytesFree, bytesSent.multiplied(clamping: Limits.unpackedShareMax))
            fits = try unsafe decoder.decode(piece, host) { (unpacked) throws(AttachPrepError) in
                guard decoder.bytesUnpacked <= bytesMax else { throw .unpacksTooFar(host) }
                guard .now < deadline else { throw .deadlineExceeded(host) }
                try unsafe take(unpacked)
            }
        }
        if !fits { state.withLock { $0.outcome.isUndecodable = true } }
        return isTaken && fits
    }

    private func take(_ piece: UnsafeRawBufferPointer) throws(AttachPrepError) {
        guard unsafe !piece.isEmpty else { return }
        try checkRange(further: piece.count)
        if try unsafe body.append(piece) { look.yield() }
    }

    /// The head is whole: decides what the body is.
    private func begin(_ head: ResponseHead) throws(AttachPrepError) {
        let verdict = ResponseVerdict(head, resuming: resumePoint, asking: condition?.validators)
        state.withLock {
            $0.outcome.head = head
            $0.outcome.verdict = verdict
        }
        switch verdict {
        case .whole(let total):
            let coding = decodesContent ? ContentCoding(head) : .none
            guard coding != .refused else { throw .refusedCoding(host) }
            if coding != .none { state.withLock { $0.decoder = ContentDecoder(coding) } }
            try body.restart()
            // An encoded body's own length is not the file's, but a file is hardly smaller than its encoded form.
            try body.check(declared: head.contentLength)
            try body.declare(total: total)
        case .continuation(let total):
            try body.check(declared: head.contentRange?.end)
            try body.declare(total: total)
        default: break
        }
    }

    /// A piece without a declared length may bring more than the range it stands for.
    private func checkRange(further bytes: Int) throws(AttachPrepError) {
        guard let head = outcome.head, head.status == 206, !head.isEncoded, let range = head.contentRange else {
            return
        }
        guard body.bytes.adding(clamping: bytes) <= range.end else { throw .contradictory(host, "Content-Range") }
    }

    /// A long body that nobody wants is cut off, a short one is read so that the connection can be used again.
    private var wantsBody: Bool {
        let outcome = outcome
        guard let head = outcome.head, let verdict = outcome.verdict, !verdict.hasContent else { return true }
        if case .contradictory = verdict { return false }
        if verdict == .unchanged { return true }
        return head.contentLength.map { $0 <= Limits.discardedBodyBytesMax } ?? false
    }

    private func holds(_ check: () throws(AttachPrepError) -> Void) -> Bool {
        do {
            try check()
            return true
        } catch {
            state.withLock { $0.outcome.refusal = $0.outcome.refusal ?? error }
            return false
        }
    }
}
