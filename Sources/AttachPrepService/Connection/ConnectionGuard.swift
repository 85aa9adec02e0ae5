import NIOCore
import NIOHTTP1

/// Watches one connection: time, order and manners of what comes in and goes out. Runs on its event loop.
///
/// A connection is closed when nothing moves on it for too long, whoever keeps it waiting: a client that sends no
/// request, one that sends it slowly, one that does not read its answer. After a broken request, a refused body, or
/// when the service stops, the answer says `Connection: close`; what else comes is dropped while the client reads it.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    let rules: ConnectionRules
    let count: ConnectionCount
    var exchanges = ExchangeOrder()
    var clock = ConnectionClock()
    /// Over a limit of connections, or opened while the service stops: what the client is told that asks for more than
    /// a probe.
    var refusal: Problem?
    /// Whether probes are answered all the same.
    private var answersProbes = false
    /// This connection, as it is counted.
    private var connection: OpenConnection?
    /// Nothing is read or written any more; the client may still read what it was told.
    var isClosing = false
    var isQuiescing = false
    /// What is wrong with the request after those that are still to be answered.
    var fault: Problem?
    var ticks: RepeatedTask?
    /// Succeeds when the socket has taken the last part of a body that was written.
    private var lastPart: EventLoopFuture<Void>?

    init(rules: ConnectionRules, count: ConnectionCount) {
        self.rules = rules
        self.count = count
    }

    func channelActive(context: ChannelHandlerContext) {
        let connection = OpenConnection(
            client: rules.client(context.remoteAddress?.ipAddress), channel: context.channel)
        self.connection = connection
        let verdict = count.begin(connection)
        answersProbes = verdict != .tooManyOfAddress
        refusal =
            switch verdict {
            case .accepted: nil
            case .tooMany: Problem.tooManyConnections(count.limit)
            case .stopping: Problem.stopping
            case .tooManyOfAddress: Problem.tooManyConnectionsOfAddress(count.addressLimit)
            }
        clock.rest(from: .now())
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let tick = refusal != nil ? rules.linger : rules.tick
        ticks = context.eventLoop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in
            let (handler, context) = bound.value
            handler.look(context: context)
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let connection { count.end(connection) }
        ticks?.cancel()
        ticks = nil
        // Whoever reads the body must not take its beginning for all of it.
        if exchanges.isBodyOpen { context.fireErrorCaught(HTTPParserError.invalidEOFState) }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing, fault == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            if let refusal, !(answersProbes && ProbeRule.isProbe(head)) { return refuse(refusal, context: context) }
            if let problem = HostRule.objection(to: head) { return refuse(problem, context: context) }
            exchanges.begin(head)
            clock.bodyBegins(at: .now())
        case .body(let bytes): clock.body(bytes.readableBytes, at: .now())
        case .end: exchanges.endBody()
        }
        noteActivity()
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // What is dropped must still be read, else the client is told that its bytes were lost, not why.
        if isClosing { context.read() }
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError, !isClosing else { return context.fireErrorCaught(error) }
        fault = Problem.unreadable(error)
        if exchanges.isBodyOpen {
            // Its handler hears of it, and its answer is the last one.
            context.fireErrorCaught(error)
        } else if exchanges.isEmpty {
            tell(fault, context: context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isQuiescing = true
            if exchanges.isEmpty { context.close(promise: nil) }
        case is ConnectionEvicted: makeRoom(context: context)
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
        if event is PartWritten {
            // Whatever becomes of it: the connection's end fails it.
            if let lastPart { lastPart.cascade(to: promise) } else { promise?.succeed() }
            return
        }
        guard event is BodyWanted else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if !isClosing, exchanges.takeExpectation() {
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }
        promise?.succeed()
    }

    /// Tells the others what this connection waits for.
    func noteActivity() {
        connection?.activity =
            if let since = clock.unreadSince {
                .unread(since: since)
            } else if exchanges.isEmpty {
                .idle(since: clock.restingSince)
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
            let framed = exchanges.answer(head, isLast: isQuiescing || fault != nil || refusal != nil)
            context.write(wrapOutboundOut(.head(framed)), promise: promise)
        case .body:
            let promise = promise ?? context.eventLoop.makePromise()
            lastPart = promise.futureResult
            context.write(data, promise: promise)
        case .end:
            context.writeAndFlush(data, promise: promise)
            answerEnded(context: context)
        }
    }
}

/// Sent down a connection after a part of an answer's body was written; succeeds when the socket has taken it.
///
/// A writer that does not wait for this is ahead of its connection: `ResponseBodyWriter.write` looks at a flag that is
/// set by the event loop, and returns before the loop has seen the bytes.
struct PartWritten: Sendable {}

extension Channel {
    /// Waits until the socket has taken all that was written before.
    ///
    /// - Throws: when the connection ends first.
    func waitUntilSent() async throws {
        let promise = eventLoop.makePromise(of: Void.self)
        triggerUserOutboundEvent(PartWritten(), promise: promise)
        try await promise.futureResult.get()
    }
}

/// Sent down a connection by who is about to read a request's body: a client may be waiting to be told (RFC 9110,
/// 10.1.1).
struct BodyWanted: Sendable {}
