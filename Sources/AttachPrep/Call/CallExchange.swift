internal import Curl
internal import RichPush
internal import SafeArithmetic
internal import Synchronization

/// One call and its answer, as the curl thread sees it.
final class CallExchange: TransferObserver {
    private struct State {
        var collector = HeadCollector()
        var head: ResponseHead?
        var body: [UInt8] = []
        var bodyBytes = 0
        var refusal: AttachPrepError?
    }

    private let host: String
    private let wall: AddressWall
    private let bytesMax: Int
    private let state = Mutex(State())

    /// - Parameter bytesMax: of the body, kept.
    init(host: String, wall: AddressWall, bytesMax: Int) {
        self.host = host
        self.wall = wall
        self.bytesMax = bytesMax
    }

    /// Our own reason for ending the call.
    var refusal: AttachPrepError? { state.withLock { $0.refusal } }

    /// What has come of the answer; nil without a whole head.
    ///
    /// - Parameter isComplete: whether the transfer got to the answer's end.
    func answer(isComplete: Bool, retryAfter: Duration?) -> WebAnswer? {
        state.withLock { state in
            state.head.map { head in
                WebAnswer(
                    head: head, body: state.body, isWhole: isComplete && state.bodyBytes == state.body.count,
                    retryAfter: retryAfter)
            }
        }
    }

    func mayConnect(to address: String) -> Bool {
        allows(address, "when connecting")
    }

    func maySendRequest(to address: String) -> Bool {
        allows(address, "on a connection in use")
    }

    private func allows(_ address: String, _ occasion: String) -> Bool {
        guard !wall.allows(address) else { return true }
        return refuse(.blocked(host, detail: "\(address), \(occasion)"))
    }

    func received(headerLine: UnsafeRawBufferPointer) -> Bool {
        let (bytes, lines) = state.withLock { state in
            let head = unsafe state.collector.collect(headerLine)
            state.head = state.head ?? head
            return (state.collector.bytes, state.collector.lines)
        }
        guard bytes <= Limits.headerBytesMax, lines <= Limits.headerLinesMax else {
            return refuse(.headersTooLarge(host))
        }
        return true
    }

    var hasHead: Bool { state.withLock { $0.head != nil } }

    func received(body piece: UnsafeRawBufferPointer, bytesSent: Int) -> Bool {
        // After "101 Switching Protocols" comes another protocol.
        guard hasHead else { return refuse(.notHTTP(host, "bytes without a final answer")) }
        return state.withLock { state in
            unsafe state.body.append(contentsOf: piece.prefix(max(0, bytesMax.subtracting(clamping: state.body.count))))
            state.bodyBytes = state.bodyBytes.adding(clamping: piece.count)
            // A short rest is read so that the connection can be used again.
            return state.bodyBytes <= max(bytesMax, Limits.discardedBodyBytesMax)
        }
    }

    private func refuse(_ error: AttachPrepError) -> Bool {
        state.withLock { $0.refusal = $0.refusal ?? error }
        return false
    }
}
