internal import CCurl
internal import Glibc
import Linux
internal import SafeArithmetic

/// The context of one transfer's libcurl callbacks: its observer, clock, connection and upload.
final class TransferEvents {
    let observer: any TransferObserver
    var clock: TransferClock
    /// Whether the request was not sent because its reused connection had unread bytes or was closed.
    private(set) var isConnectionSpoiled = false
    /// Whether reading is paused.
    private(set) var isPaused = false
    let connection: TransferConnection
    private let method: TransferMethod
    private var framing = ResponseFraming()
    /// Whether the response has an unsupported transfer coding.
    private(set) var isTransferCodingRefused = false
    /// Reads the file that is uploaded; nil for a request without one.
    private var upload: UploadReader?

    init(
        observer: any TransferObserver, clock: TransferClock, connection: TransferConnection,
        method: TransferMethod, upload: TransferUpload? = nil
    ) {
        self.observer = observer
        self.clock = clock
        self.connection = connection
        self.method = method
        self.upload = upload.map(UploadReader.init)
    }

    /// Fills a buffer with the next bytes of the upload; nil when they cannot be read.
    func send(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard upload != nil else { return 0 }
        guard let count = unsafe upload?.read(into: buffer) else { return nil }
        clock.send(count, isLast: upload?.isOver ?? true)
        return count
    }

    func rewind(to offset: Int) -> Bool { upload?.seek(to: offset) ?? false }

    func maySendRequest(to address: String, _ remotePort: Int32, from localPort: Int32) -> Bool {
        isConnectionSpoiled = connection.begin(localPort: localPort, remotePort: remotePort)
        guard !isConnectionSpoiled, observer.maySendRequest(to: address) else { return false }
        clock.sendRequest()
        return true
    }

    func received(headerLine line: UnsafeRawBufferPointer) -> Bool {
        connection.recordReceived(headerBytes: line.count)
        // Checked first: libcurl decodes the body after this head.
        guard unsafe framing.read(line) else {
            isTransferCodingRefused = true
            return false
        }
        let isTrailer = observer.hasHead
        guard unsafe observer.received(headerLine: line) else { return false }
        if isTrailer {
            clock.receive(line.count)
        } else if observer.hasHead {
            clock.receiveHead()
            connection.decideReuse(isClean: framing.allowsReuse(after: method))
        }
        return true
    }

    func received(body piece: UnsafeRawBufferPointer) -> Bool {
        clock.receive(piece.count)
        guard unsafe observer.received(body: piece, bytesSent: connection.recordReceivedBody()) else { return false }
        if observer.isPaused, !isPaused { isPaused = connection.pause() }
        return true
    }

    /// Resumes reading if the observer is no longer paused. Must not be called during a callback.
    ///
    /// - Returns: CURLE_OK, or the error from processing data that libcurl had already read.
    func resume() -> CURLcode {
        guard isPaused, !observer.isPaused else { return CURLE_OK }
        isPaused = false
        // The time of the pause does not count as a stall.
        clock.receiveHead()
        return connection.unpause()
    }

    /// When the transfer must be stopped, and why; only the deadline applies to a paused one.
    var end: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        isPaused ? clock.deadlineEnd : clock.end
    }

    /// The pointer is valid: callbacks run during calls on a handle, which owns its events.
    static func from(_ context: UnsafeMutableRawPointer?) -> TransferEvents? {
        unsafe context.map { unsafe Unmanaged<TransferEvents>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// CURLOPT_HEADERFUNCTION: a short count ends the transfer with CURLE_WRITE_ERROR.
@c func curlHeader(
    _ line: UnsafeMutablePointer<CChar>?, size: Int, count: Int, in context: UnsafeMutableRawPointer?
) -> Int {
    guard let events = unsafe TransferEvents.from(context) else { return 0 }
    let bytes = unsafe UnsafeRawBufferPointer(start: line, count: size * count)
    let goesOn = events.connection.watch.insideCallback { unsafe events.received(headerLine: bytes) } ?? false
    return goesOn ? size * count : 0
}

/// CURLOPT_WRITEFUNCTION: CURL_WRITEFUNC_ERROR ends the transfer with CURLE_WRITE_ERROR, also for an empty piece.
@c func curlBody(
    _ piece: UnsafeMutablePointer<CChar>?, size: Int, count: Int, in context: UnsafeMutableRawPointer?
) -> Int {
    guard let events = unsafe TransferEvents.from(context) else { return Int(CURL_WRITEFUNC_ERROR) }
    let bytes = unsafe UnsafeRawBufferPointer(start: piece, count: size * count)
    let goesOn = events.connection.watch.insideCallback { unsafe events.received(body: bytes) } ?? false
    return goesOn ? size * count : Int(CURL_WRITEFUNC_ERROR)
}

/// CURLOPT_OPENSOCKETFUNCTION: CURL_SOCKET_BAD ends the attempt with CURLE_COULDNT_CONNECT before a packet leaves.
@c func curlOpenSocket(
    _ context: UnsafeMutableRawPointer?, purpose: curlsocktype, address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let events = unsafe TransferEvents.from(context), let address = unsafe address,
        let text = unsafe numericHost(address),
        events.connection.watch.insideCallback({ events.observer.mayConnect(to: text) }) == true
    else { return CURL_SOCKET_BAD }
    // Child processes must not inherit connections.
    let kind = unsafe address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return unsafe events.connection.watch.sockets.open(
        address.pointee.family, kind: kind, transport: address.pointee.protocol)
}

/// CURLOPT_CLOSESOCKETFUNCTION: the context is `OpenSockets`, which outlives the transfer like the connection.
@c func curlCloseSocket(_ context: UnsafeMutableRawPointer?, descriptor: curl_socket_t) -> Int32 {
    guard let context = unsafe context else { return 1 }
    return unsafe Unmanaged<OpenSockets>.fromOpaque(context).takeUnretainedValue().close(descriptor)
}

/// CURLOPT_PREREQFUNCTION: called before every request, on reused connections too.
@c func curlPreRequest(
    _ context: UnsafeMutableRawPointer?, address: UnsafeMutablePointer<CChar>?,
    localAddress: UnsafeMutablePointer<CChar>?, port: Int32, localPort: Int32
) -> Int32 {
    guard let events = unsafe TransferEvents.from(context), let address = unsafe address else {
        return CURL_PREREQFUNC_ABORT
    }
    let text = unsafe String(cString: address)
    let goesOn =
        events.connection.watch.insideCallback { events.maySendRequest(to: text, port, from: localPort) } ?? false
    return goesOn ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private func numericHost(_ address: UnsafeMutablePointer<curl_sockaddr>) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard let socketAddress = unsafe address.pointer(to: \.addr) else { return nil }
    let length = socklen_t(unsafe address.pointee.addrlen)
    let status = unsafe getnameinfo(
        socketAddress, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard status == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Computes which time limit of a transfer is reached next; used on the loop thread.
struct TransferClock {
    private let limits: TransferLimits
    private let started: ContinuousClock.Instant
    private var requestSent: ContinuousClock.Instant?
    /// When `stallBytesMin` bytes were last received.
    private var lastProgress: ContinuousClock.Instant?
    private var bytesSinceProgress = 0
    /// When a piece of the request body was last sent; nil once all is sent.
    private var lastSent: ContinuousClock.Instant?

    init(_ limits: TransferLimits, started: ContinuousClock.Instant = .now) {
        self.limits = limits
        self.started = started
    }

    /// The request is about to be sent.
    mutating func sendRequest(at now: ContinuousClock.Instant = .now) {
        requestSent = now
    }

    /// A piece of the request body is sent; the wait for the response starts with the last one.
    mutating func send(_ bytes: Int, isLast: Bool, at now: ContinuousClock.Instant = .now) {
        lastSent = isLast ? nil : now
        if isLast { requestSent = now }
    }

    /// The response head is complete.
    mutating func receiveHead(at now: ContinuousClock.Instant = .now) {
        lastProgress = now
        bytesSinceProgress = 0
    }

    /// Body or trailer bytes were received.
    ///
    /// Fewer than `stallBytesMin` bytes are not progress: otherwise a server that sends a byte now and then could
    /// occupy a transfer until its deadline.
    mutating func receive(_ bytes: Int, at now: ContinuousClock.Instant = .now) {
        bytesSinceProgress = bytesSinceProgress.adding(clamping: bytes)
        guard bytesSinceProgress >= limits.stallBytesMin else { return }
        receiveHead(at: now)
    }

    /// Whether the request waits for its connection.
    var isConnecting: Bool { requestSent == nil }

    /// When the transfer must be stopped if nothing happens until then, and the ending to report.
    var end: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        let stage = stageEnd
        return limits.deadline <= stage.instant ? deadlineEnd : stage
    }

    var deadlineEnd: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        (limits.deadline, .deadlineReached)
    }

    private var stageEnd: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        if let lastProgress { return (lastProgress + limits.stall, .stalled) }
        if let lastSent { return (lastSent + limits.stall, .stalled) }
        if let requestSent { return (requestSent + limits.firstByte, .firstByteTimedOut) }
        return (started + limits.connect, .connectTimedOut)
    }
}

/// Reads the part of a file that a transfer uploads.
struct UploadReader {
    private let upload: TransferUpload
    private var sent = 0

    init(_ upload: TransferUpload) {
        self.upload = upload
    }

    var isOver: Bool { sent == upload.bytes }

    /// Fills a buffer with the next bytes; nil when the file is too short or cannot be read.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let wanted = min(buffer.count, upload.bytes.subtracting(clamping: sent))
        guard wanted > 0 else { return 0 }
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
        let count = try? unsafe FileIO.read(upload.descriptor, into: part, at: upload.offset.adding(clamping: sent))
        guard let count, count > 0 else { return nil }
        sent = sent.adding(clamping: count)
        return count
    }

    /// Sets the offset, as when a request is sent again over another connection; false for an offset out of range.
    mutating func seek(to offset: Int) -> Bool {
        guard 0...upload.bytes ~= offset else { return false }
        sent = offset
        return true
    }
}

/// CURLOPT_READFUNCTION: CURL_READFUNC_ABORT ends the transfer with CURLE_ABORTED_BY_CALLBACK.
@c func curlRead(
    _ buffer: UnsafeMutablePointer<CChar>?, size: Int, count: Int, in context: UnsafeMutableRawPointer?
) -> Int {
    guard let events = unsafe TransferEvents.from(context) else { return Int(CURL_READFUNC_ABORT) }
    let destination = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
    let read = events.connection.watch.insideCallback { unsafe events.send(into: destination) }.flatMap(\.self)
    return read ?? Int(CURL_READFUNC_ABORT)
}

/// CURLOPT_SEEKFUNCTION: called when a request whose body was partly sent is sent again.
@c func curlSeek(_ context: UnsafeMutableRawPointer?, offset: curl_off_t, origin: Int32) -> Int32 {
    guard let events = unsafe TransferEvents.from(context), origin == SEEK_SET,
        events.connection.watch.insideCallback({ events.rewind(to: Int(clamping: offset)) }) == true
    else { return CURL_SEEKFUNC_FAIL }
    return CURL_SEEKFUNC_OK
}
