public import NIOCore

/// Makes a connection behave like a phone's: what comes in and what goes out takes the time of its link.
///
/// Stands first on a channel, so that everything behind it sees a slow and distant phone. The promise of a write is
/// fulfilled when its last byte is on the link: who writes without waiting for that has no bound.
public final class ShapingHandler: ChannelDuplexHandler {
    public typealias InboundIn = ByteBuffer
    public typealias InboundOut = ByteBuffer
    public typealias OutboundIn = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    private var down: DelayLine
    private var up: DelayLine
    private let handshake: Int64
    private var gauge: FateGauge
    private var writes = WritesOnTheirWay()
    private var closing = CloseOrder()
    private var acceptedAt: Int64 = 0
    private var alarm: Scheduled<Void>?
    private var alarmAt: Int64 = .max
    private var wantsRead = false
    private var isOver = false

    /// A request and its header fit; more is read when these are on their way.
    private static let uplinkBytesMax = 65_536

    /// - Parameter roundTrips: until the first byte of an answer, the request's own included.
    public init(links: LinkPair, roundTrips: Int, fate: ConnectionFate) {
        down = DelayLine(link: links.down, delay: links.delay)
        up = DelayLine(link: links.up, delay: links.delay)
        handshake = Int64(roundTrips - 1) * 2 * links.delay
        gauge = FateGauge(fate)
    }

    private var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }

    public func channelActive(context: ChannelHandlerContext) {
        acceptedAt = now
        context.fireChannelActive()
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The phone could not have sent this before its handshake was through.
        up.offer(unwrapInboundIn(data), readyAt: max(now, acceptedAt + handshake))
        pump(context)
    }

    public func read(context: ChannelHandlerContext) {
        wantsRead = up.waitingBytes >= Self.uplinkBytesMax
        if !wantsRead { context.read() }
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        // Nothing will ever be written to a stalled phone, so nothing else would say that it has gone.
        guard !gauge.isReached else { return context.close(mode: .all, promise: nil) }
        up.close(at: max(now, acceptedAt + handshake))
        pump(context)
    }

    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !closing.isGiven, !isOver else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        let bytes = unwrapOutboundIn(data)
        writes.begin(bytes.readableBytes, promise)
        down.offer(bytes, readyAt: now)
        pump(context)
    }

    /// Everything leaves at its own time.
    public func flush(context: ChannelHandlerContext) {}

    /// After what was written before.
    public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input, !isOver, !closing.isDone else { return context.close(mode: mode, promise: promise) }
        closing.give(mode, promise)
        down.close(at: now)
        pump(context)
    }

    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return }
        down.resume(at: now)
        pump(context)
    }

    public func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    public func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        alarm?.cancel()
        alarm = nil
        down.drop()
        up.drop()
        closing.promise?.succeed()
        closing.promise = nil
        writes.fail(ChannelError.ioOnClosedChannel)
    }
}

extension ShapingHandler {
    /// Hands over what has arrived at either end, and sets the alarm for what arrives next.
    private func pump(_ context: ChannelHandlerContext) {
        guard !isOver else { return }
        handOut(context)
        guard !isOver else { return }
        handIn(context)
        guard !isOver else { return }
        let isRead = context.channel.isWritable && !gauge.isReached
        guard let next = [isRead ? down.nextEvent : nil, up.nextEvent].compactMap(\.self).min() else { return }
        wake(context, at: next)
    }

    private func handOut(_ context: ChannelHandlerContext) {
        guard context.channel.isWritable, !gauge.isReached else { return }
        let arrivals = down.advance(to: now)
        for arrival in arrivals where !gauge.isReached {
            switch arrival {
            case .bytes(let bytes): context.write(wrapOutboundOut(gauge.pass(bytes)), promise: nil)
            case .end:
                context.flush()
                closing.isDone = true
                context.close(mode: closing.mode, promise: closing.takePromise())
            }
        }
        if !isOver, !arrivals.isEmpty { context.flush() }
        if !isOver, gauge.isCut { context.close(mode: .all, promise: nil) }
        // Last, since who hears of it writes again.
        writes.end(at: down.loadedBytes)
    }

    private func handIn(_ context: ChannelHandlerContext) {
        let arrivals = up.advance(to: now)
        guard !arrivals.isEmpty else { return }
        for arrival in arrivals where !isOver {
            switch arrival {
            case .bytes(let bytes): context.fireChannelRead(wrapInboundOut(bytes))
            case .end: context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            }
        }
        guard !isOver else { return }
        context.fireChannelReadComplete()
        if wantsRead, !isOver { read(context: context) }
    }

    private func wake(_ context: ChannelHandlerContext, at time: Int64) {
        guard alarm == nil || time < alarmAt else { return }
        alarm?.cancel()
        alarmAt = time
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        alarm = context.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(time, 0)))) {
            let (handler, context) = bound.value
            handler.alarm = nil
            handler.pump(context)
        }
    }
}
