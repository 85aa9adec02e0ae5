internal import AttachPrepModel
internal import Curl
internal import MediaTypes
internal import SafeArithmetic
internal import Synchronization

/// Handles the callbacks of one request and its response on the curl thread.
final class HTTPClientExchange: TransferObserver {
    private struct State {
        var parser = ResponseHeadParser()
        var head: ResponseHead?
        var body: [UInt8] = []
        var bodyBytes = 0
        var abortError: AttachPrepError?
    }

    private let host: String
    private let addressPolicy: AddressPolicy
    private let bytesMax: Int
    private let state = Mutex(State())

    /// - Parameter bytesMax: The most bytes of the response body that are kept.
    init(host: String, addressPolicy: AddressPolicy, bytesMax: Int) {
        self.host = host
        self.addressPolicy = addressPolicy
        self.bytesMax = bytesMax
    }

    /// The first error with which a callback aborted the request.
    var abortError: AttachPrepError? { state.withLock { $0.abortError } }

    /// The response as far as it was received; nil without a complete head.
    ///
    /// - Parameter isComplete: Whether the transfer completed.
    func answer(isComplete: Bool, retryAfter: Duration?) -> HTTPClientResponse? {
        state.withLock { state in
            state.head.map { head in
                HTTPClientResponse(
                    head: head, body: state.body, isWhole: isComplete && state.bodyBytes == state.body.count,
                    retryAfter: retryAfter)
            }
        }
    }

    func mayConnect(to address: String) -> Bool {
        allows(address, occasion: "when connecting")
    }

    func maySendRequest(to address: String) -> Bool {
        allows(address, occasion: "on a connection in use")
    }

    private func allows(_ address: String, occasion: String) -> Bool {
        guard !addressPolicy.allows(address) else { return true }
        return reject(.blocked(host, detail: "\(address), \(occasion)"))
    }

    func received(headerLine: UnsafeRawBufferPointer) -> Bool {
        let parser = state.withLock { state in
            let head = unsafe state.parser.parse(headerLine)
            state.head = state.head ?? head
            return state.parser
        }
        guard parser.bytes <= Limits.headerBytesMax, parser.lines <= Limits.headerLinesMax else {
            return reject(.headersTooLarge(host, longest: parser.longestName))
        }
        return true
    }

    var hasHead: Bool { state.withLock { $0.head != nil } }

    func received(body piece: UnsafeRawBufferPointer, bytesSent: Int) -> Bool {
        // After "101 Switching Protocols", the bytes belong to another protocol.
        guard hasHead else { return reject(.notHTTP(host, detail: "bytes without a final answer")) }
        return state.withLock { state in
            unsafe state.body.append(contentsOf: piece.prefix(max(0, bytesMax.subtracting(clamping: state.body.count))))
            state.bodyBytes = state.bodyBytes.adding(clamping: piece.count)
            // A short remainder is read so that the connection can be reused.
            return state.bodyBytes <= max(bytesMax, Limits.discardedBodyBytesMax)
        }
    }

    private func reject(_ error: AttachPrepError) -> Bool {
        state.withLock { $0.abortError = $0.abortError ?? error }
        return false
    }
}
