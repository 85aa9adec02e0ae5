internal import CCurl

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// What libcurl's callbacks of one transfer reach: its observer and its clock.
final class TransferEvents {
    let observer: any TransferObserver
    var clock: TransferClock
    /// Whether the request was held back because the connection had something to say before it was asked.
    private(set) var isConnectionSpoiled = false
    /// Whether nothing more is read for now.
    private(set) var isHeld = false
    let connection: TransferConnection
    private let method: TransferMethod
    private var framing = AnswerFraming()
    /// Whether the answer came in a transfer coding that is not taken.
    private(set) var isTransferCodingRefused = false
    /// What is sent; nil for a request without a file.
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

    /// The next bytes of what is sent; nil when they cannot be had.
    func send(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard upload != nil else { return 0 }
        guard let count = unsafe upload?.read(into: buffer) else { return nil }
        clock.send(count, isLast: upload?.isOver ?? true)
        return count
    }

    func rewind(to place: Int) -> Bool { upload?.move(to: place) ?? false }

    func maySendRequest(to address: String, _ remotePort: Int32, from localPort: Int32) -> Bool {
        isConnectionSpoiled = connection.begin(localPort: localPort, remotePort: remotePort)
        guard !isConnectionSpoiled, observer.maySendRequest(to: address) else { return false }
        clock.sendRequest()
        return true
    }

    func received(headerLine line: UnsafeRawBufferPointer) -> Bool {
        connection.bring(headerBytes: line.count)
        // Before anybody else: libcurl unpacks what comes behind this head.
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
        guard unsafe observer.received(body: piece, bytesSent: connection.bringBody()) else { return false }
        if observer.isHeld, !isHeld { isHeld = connection.hold() }
        return true
    }

    /// Reads on when the observer wants more; outside of callbacks.
    ///
    /// - Returns: what ends the transfer, if anything in what had been read already does.
    func resume() -> CURLcode {
        guard isHeld, !observer.isHeld else { return CURLE_OK }
        isHeld = false
        // The time in which nothing was read is no stall of the server's.
        clock.receiveHead()
        return connection.release()
    }

    /// When the transfer must be stopped; one that is held by us has all the time there is.
    var end: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        isHeld ? clock.deadlineEnd : clock.end
    }

    /// Callbacks run inside calls on a handle that holds its events, so the pointer is always alive.
    static func from(_ context: UnsafeMutableRawPointer?) -> TransferEvents? {
        unsafe context.map { unsafe Unmanaged<TransferEvents>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// CURLOPT_HEADERFUNCTION: a short count ends the transfer with CURLE_WRITE_ERROR.
@c func curlHeader(
    _ line: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let events = unsafe TransferEvents.from(context) else { return 0 }
    // Bounded: libcurl's own buffer; the size is 1.
    let bytes = unsafe UnsafeRawBufferPointer(start: line, count: size * count)
    let goesOn = events.connection.watch.outside { unsafe events.received(headerLine: bytes) } ?? false
    // Bounded: the same.
    return goesOn ? size * count : 0
}

/// CURLOPT_WRITEFUNCTION: CURL_WRITEFUNC_ERROR ends the transfer with CURLE_WRITE_ERROR, also for an empty piece.
@c func curlBody(
    _ piece: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let events = unsafe TransferEvents.from(context) else { return Int(CURL_WRITEFUNC_ERROR) }
    // Bounded: libcurl's own buffer; the size is 1.
    let bytes = unsafe UnsafeRawBufferPointer(start: piece, count: size * count)
    let goesOn = events.connection.watch.outside { unsafe events.received(body: bytes) } ?? false
    // Bounded: the same.
    return goesOn ? size * count : Int(CURL_WRITEFUNC_ERROR)
}

/// CURLOPT_OPENSOCKETFUNCTION: CURL_SOCKET_BAD ends the attempt with CURLE_COULDNT_CONNECT before a packet leaves.
@c func curlOpenSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let events = unsafe TransferEvents.from(context), let address = unsafe address,
        let text = unsafe numericHost(address),
        events.connection.watch.outside({ events.observer.mayConnect(to: text) }) == true
    else { return CURL_SOCKET_BAD }
    // Children of this process must not inherit connections.
    let kind = unsafe address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return unsafe events.connection.watch.sockets.open(address.pointee.family, kind, address.pointee.protocol)
}

/// CURLOPT_CLOSESOCKETFUNCTION: the context is the list of sockets, which outlives the transfer as the connection does.
@c func curlCloseSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    guard let context = unsafe context else { return 1 }
    return unsafe Unmanaged<OpenSockets>.fromOpaque(context).takeUnretainedValue().close(descriptor)
}

/// CURLOPT_PREREQFUNCTION: asked for every request, on a reused connection too.
@c func curlPreRequest(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafeMutablePointer<CChar>?,
    _ localAddress: UnsafeMutablePointer<CChar>?, _ port: Int32, _ localPort: Int32
) -> Int32 {
    guard let events = unsafe TransferEvents.from(context), let address = unsafe address else {
        return CURL_PREREQFUNC_ABORT
    }
    let text = unsafe String(cString: address)
    let goesOn = events.connection.watch.outside { events.maySendRequest(to: text, port, from: localPort) } ?? false
    return goesOn ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private func numericHost(_ address: UnsafeMutablePointer<curl_sockaddr>) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard let socketAddress = unsafe address.pointer(to: \.addr) else { return nil }
    // Bounded: 32 bits of libcurl: the size of an address.
    let length = socklen_t(unsafe address.pointee.addrlen)
    let status = unsafe getnameinfo(
        socketAddress, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard status == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
