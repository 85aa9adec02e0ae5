import AttachPrepModel
import Glibc
import HTTPTypes
import MediaTypes
import NIOCore
import NIOHTTP1

/// Enforces timeouts, message order and connection limits on one connection. Runs on its event loop.
///
/// It closes a connection without progress: a client that sends no request, sends it too slowly, or does not read its
/// response. After a malformed request, a rejected body, or when the service stops, the response contains
/// `Connection: close`, and further input is discarded while the client reads the response.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    let rules: ConnectionRules
    let connections: ConnectionRegistry
    var exchanges = PipelinedRequests()
    var clock = ConnectionClock()
    /// The problem for all requests except probes, on a connection over a limit or opened while the service stops.
    var rejection: Problem?
    /// Whether probes are answered in spite of `rejection`.
    private var answersProbes = false
    /// The registry's entry of this connection.
    private var connection: OpenConnection?
    /// No more requests are read and no more responses written; the client may still read the last response.
    var isClosing = false
    var isQuiescing = false
    /// The problem of a rejected request, sent after the responses to earlier requests.
    var pendingProblem: Problem?
    var ticks: RepeatedTask?
    /// Succeeds when the socket has accepted the body part written last.
    private var lastPart: EventLoopFuture<Void>?

    /// Reads the bytes before the decoder; nil without one.
    private let declaredLength: DeclaredLengthReader?

    init(rules: ConnectionRules, connections: ConnectionRegistry, declaredLength: DeclaredLengthReader? = nil) {
        self.rules = rules
        self.connections = connections
        self.declaredLength = declaredLength
    }

    func channelActive(context: ChannelHandlerContext) {
        let connection = OpenConnection(
            client: rules.client(context.remoteAddress?.ipAddress), channel: context.channel)
        self.connection = connection
        let verdict = connections.begin(connection)
        answersProbes = verdict != .tooManyOfAddress
        rejection =
            switch verdict {
            case .accepted: nil
            case .tooMany: Problem.tooManyConnections(connections.limit)
            case .stopping: Problem.stopping
            case .tooManyOfAddress: Problem.tooManyConnectionsOfAddress(connections.addressLimit)
            }
        clock.markIdle(from: .now())
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let tick = rejection != nil ? rules.linger : rules.tick
        ticks = context.eventLoop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in
            let (handler, context) = bound.value
            handler.checkTimeouts(context: context)
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let connection { connections.end(connection) }
        ticks?.cancel()
        ticks = nil
        // The reader of the body must not mistake a truncated body for a complete one.
        if exchanges.isBodyOpen { context.fireErrorCaught(HTTPParserError.invalidEOFState) }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing, pendingProblem == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            if let problem = RequestText.problemResponse(to: head) { return reject(problem, context: context) }
            if let rejection, !(answersProbes && HealthProbe.isProbe(head)) {
                return reject(rejection, context: context)
            }
            if let problem = HostHeader.problemResponse(to: head) { return reject(problem, context: context) }
            exchanges.begin(head)
            clock.bodyBegan(at: .now())
        case .body(let bytes): clock.body(bytes.readableBytes, at: .now())
        case .end: exchanges.endBody()
        }
        noteActivity()
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Discarded input must still be read; otherwise the kernel sends RST and the client loses the response.
        if isClosing { context.read() }
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError, !isClosing else { return context.fireErrorCaught(error) }
        pendingProblem =
            declaredLength?.exceedsInteger == true
            ? Problem(BoundedRequestBody.tooLarge(Limits.sourceBytesMax)) : Problem.unreadable(error)
        if exchanges.isBodyOpen {
            // The request's handler receives the error; its response is the last one.
            context.fireErrorCaught(error)
        } else if exchanges.isEmpty {
            respondAndClose(pendingProblem, context: context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isQuiescing = true
            if exchanges.isEmpty { context.close(promise: nil) }
        case is ConnectionEvicted: evictForNewConnection(context: context)
        case ChannelEvent.inputClosed where isClosing: context.close(promise: nil)
        case ChannelEvent.inputClosed where exchanges.isBodyOpen:
            context.fireErrorCaught(HTTPParserError.invalidEOFState)
            context.fireUserInboundEventTriggered(event)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        clock.unreadSince = context.channel.isWritable ? nil : .now()
        noteActivity()
        context.fireChannelWritabilityChanged()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if event is PartWrittenEvent {
            // If the connection closes first, the promise fails.
            if let lastPart { lastPart.cascade(to: promise) } else { promise?.succeed() }
            return
        }
        guard event is BodyReadEvent else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if !isClosing, exchanges.takeExpectation() {
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }
        promise?.succeed()
    }

    /// Publishes what this connection waits for, for the choice of a connection to evict.
    func noteActivity() {
        connection?.activity =
            if let since = clock.unreadSince {
                .unread(since: since)
            } else if exchanges.isEmpty {
                .idle(since: clock.idleSince)
            } else if exchanges.isBodyAlone {
                .receiving(progress: clock.bodyProgress(bytesPerSecond: rules.bodyBytesPerSecondMin))
            } else {
                .answering
            }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing, !exchanges.isEmpty else {
            promise?.succeed()
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head):
            let framed = exchanges.answer(head, isLast: isQuiescing || pendingProblem != nil || rejection != nil)
            context.write(wrapOutboundOut(.head(framed)), promise: promise)
        case .body:
            let promise = promise ?? context.eventLoop.makePromise()
            lastPart = promise.futureResult
            context.write(data, promise: promise)
        case .end:
            context.writeAndFlush(data, promise: promise)
            responseEnded(context: context)
        }
    }
}

/// An outbound event sent after a body part was written; its promise succeeds when the socket has accepted the part.
///
/// Provides backpressure: `ResponseBodyWriter.write` only checks a writability flag set by the event loop, and returns
/// before the loop has seen the bytes.
struct PartWrittenEvent: Sendable {}

extension Channel {
    /// Waits until the socket has accepted everything written before.
    ///
    /// - Throws: If the connection closes first.
    func waitUntilSent() async throws {
        let promise = eventLoop.makePromise(of: Void.self)
        triggerUserOutboundEvent(PartWrittenEvent(), promise: promise)
        try await promise.futureResult.get()
    }
}

extension ConnectionGuard {
    func checkTimeouts(context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        guard !isClosing else { return }
        if rejection != nil, exchanges.isEmpty { return respondAndClose(rejection, context: context) }
        let isBehind = clock.unreadSince.map { now - $0 > rules.idle } ?? false
        let isSilent = exchanges.isEmpty && now - clock.idleSince > rules.idle
        let isSlow =
            exchanges.isBodyAlone
            && (now - clock.lastByteAt > rules.idle
                || rules.isTooSlow(bytes: clock.bodyBytes, since: clock.bodySince, now: now))
        guard isBehind || isSilent || isSlow else { return }
        if isBehind { dropUnread(context: context) }
        context.close(promise: nil)
    }

    /// Closes the connection in favor of a new one; if a response has begun meanwhile, closes after that response.
    func evictForNewConnection(context: ChannelHandlerContext) {
        guard !isClosing else { return }
        let isUnread = clock.unreadSince != nil
        guard exchanges.isEmpty || exchanges.isBodyAlone || isUnread else {
            isQuiescing = true
            return
        }
        if isUnread { dropUnread(context: context) }
        context.close(promise: nil)
    }

    /// Continues with the next request after a response, or closes the connection.
    func responseEnded(context: ChannelHandlerContext) {
        let isLast = exchanges.endResponse()
        clock.markIdle(from: .now())
        noteActivity()
        if isLast {
            closeGently(context: context)
        } else if exchanges.isEmpty, let pendingProblem {
            respondAndClose(pendingProblem, context: context)
        } else if exchanges.isEmpty, isQuiescing {
            closeGently(context: context)
        }
    }

    /// Discards unsent bytes on close; otherwise the kernel keeps them and retries for minutes.
    private func dropUnread(context: ChannelHandlerContext) {
        (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            // A failure only delays the release of kernel memory.
            .whenFailure { _ in }
    }

    /// Rejects a request without passing it on, after the responses to earlier requests.
    func reject(_ problem: Problem, context: ChannelHandlerContext) {
        pendingProblem = problem
        if exchanges.isEmpty { respondAndClose(problem, context: context) }
    }

    func respondAndClose(_ problem: Problem?, context: ChannelHandlerContext) {
        guard let problem else { return }
        let body = problem.body
        var headers = HTTPHeaders([
            ("Content-Type", Problem.mediaType), ("Content-Length", "\(body.readableBytes)"), ("Connection", "close"),
            ("Cache-Control", "no-store"),
        ])
        for field in problem.fields { headers.add(name: field.name.rawName, value: field.value) }
        let status = HTTPResponseStatus(statusCode: problem.status)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        closeGently(context: context)
    }

    /// Closes the output after the last response, and the connection when the client closes its side or after
    /// `rules.linger`. Closing at once would send RST to a client that is still sending, which loses the response.
    func closeGently(context: ChannelHandlerContext) {
        isClosing = true
        ticks?.cancel()
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: rules.linger) { bound.value.close(promise: nil) }
        context.read()
    }
}

extension Problem {
    /// The problem for malformed HTTP or a header that is too large.
    static func unreadable(_ error: any Error) -> Problem {
        if case HTTPParserError.headerOverflow = error {
            return Problem(
                .requestTooLarge, "The request's header exceeds \(Limits.requestHeaderBytesMax) bytes.",
                status: 431)
        }
        return Problem(.requestInvalid, "The request is not valid HTTP/1.1.")
    }

    static func tooManyConnections(_ limit: Int) -> Problem {
        Problem(.queueFull, "All \(limit) connections are in use; retry later or use fewer.").retrying(after: 1)
    }

    /// The problem for new connections while running jobs finish.
    static let stopping = Problem(
        .queueUnavailable, "The service is stopping; retry later or use another instance."
    ).retrying(after: 5)

    static func tooManyConnectionsOfAddress(_ limit: Int) -> Problem {
        Problem(.queueFull, "All \(limit) connections of this address are in use; retry later or use fewer.")
            .retrying(after: 1)
    }
}

/// Requests that are answered even on connections over the limit and while the service stops.
enum HealthProbe {
    /// The paths of `HealthRoutes`.
    static let paths: Set<Substring> = ["/healthz", "/readyz", "/metrics"]

    static func isProbe(_ head: HTTPRequestHead) -> Bool {
        [.GET, .HEAD].contains(head.method) && paths.contains(head.uri.prefix { $0 != "?" })
    }
}
