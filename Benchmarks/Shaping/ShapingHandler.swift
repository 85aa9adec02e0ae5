public import NIOCore

/// Delays the bytes of a connection in both directions by the bandwidth and latency of a link.
///
/// Must be the first handler of the channel. The promise of a write succeeds when the link has accepted its last byte;
/// a writer that does not wait for it buffers without limit.
public final class ShapingHandler: ChannelDuplexHandler {
    public typealias InboundIn = ByteBuffer
    public typealias InboundOut = ByteBuffer
    public typealias OutboundIn = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    private var down: DelayLine
    private var up: DelayLine
    private let handshake: Int64
    private var trigger: FaultTrigger
    private var writes = PendingWrites()
    private var closing = PendingClose()
    private var acceptedAt: Int64 = 0
    private var alarm: Scheduled<Void>?
    private var alarmAt: Int64 = .max
    private var wantsRead = false
    private var isOver = false

    /// The limit of queued uplink bytes above which reading pauses; a request with its header fits.
    private static let uplinkBytesMax = 65_536

    /// - Parameter roundTrips: Round trips until the first response byte, including that of the request.
    public init(links: LinkPair, roundTrips: Int, fault: FaultInjection) {
        down = DelayLine(link: links.down, delay: links.delay)
        up = DelayLine(link: links.up, delay: links.delay)
        handshake = Int64(roundTrips - 1) * 2 * links.delay
        trigger = FaultTrigger(fault)
    }

    private var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }

    public func channelActive(context: ChannelHandlerContext) {
        acceptedAt = now
        context.fireChannelActive()
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A phone could not have sent this before its handshake was complete.
        up.offer(unwrapInboundIn(data), readyAt: max(now, acceptedAt + handshake))
        pump(context)
    }

    public func read(context: ChannelHandlerContext) {
        wantsRead = up.waitingBytes >= Self.uplinkBytesMax
        if !wantsRead { context.read() }
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        // A stalled connection is never written to, so a later write cannot detect that the client has gone.
        guard !trigger.isReached else { return context.close(mode: .all, promise: nil) }
        up.close(at: max(now, acceptedAt + handshake))
        pump(context)
    }

    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !closing.isRequested, !isOver else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        let bytes = unwrapOutboundIn(data)
        writes.begin(bytes.readableBytes, promise)
        down.offer(bytes, readyAt: now)
        pump(context)
    }

    /// Does nothing: departure times are those of the link.
    public func flush(context: ChannelHandlerContext) {}

    /// Closes the connection after the bytes written before.
    public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input, !isOver, !closing.isDone else { return context.close(mode: mode, promise: promise) }
        closing.request(mode, promise)
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
    /// Delivers what has arrived at either end, and schedules a timer for the next arrival.
    private func pump(_ context: ChannelHandlerContext) {
        guard !isOver else { return }
        deliverOutbound(context)
        guard !isOver else { return }
        deliverInbound(context)
        guard !isOver else { return }
        let isRead = context.channel.isWritable && !trigger.isReached
        guard let next = [isRead ? down.nextEvent : nil, up.nextEvent].compactMap(\.self).min() else { return }
        wake(context, at: next)
    }

    private func deliverOutbound(_ context: ChannelHandlerContext) {
        guard context.channel.isWritable, !trigger.isReached else { return }
        let arrivals = down.advance(to: now)
        for arrival in arrivals where !trigger.isReached {
            switch arrival {
            case .bytes(let bytes): context.write(wrapOutboundOut(trigger.pass(bytes)), promise: nil)
            case .end:
                context.flush()
                closing.isDone = true
                context.close(mode: closing.mode, promise: closing.takePromise())
            }
        }
        if !isOver, !arrivals.isEmpty { context.flush() }
        if !isOver, trigger.isCut { context.close(mode: .all, promise: nil) }
        // Last, since a succeeded promise may cause the next write.
        writes.end(at: down.loadedBytes)
    }

    private func deliverInbound(_ context: ChannelHandlerContext) {
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

/// A fault of every connection after a number of downlink bytes, headers included.
public enum FaultInjection: Sendable, Hashable {
    case none
    /// The connection stays open, but nothing more arrives.
    case stall(afterBytes: Int)
    /// The connection is closed.
    case cut(afterBytes: Int)
}

/// Counts down the bytes until a connection's fault.
struct FaultTrigger {
    private let fault: FaultInjection
    private var bytesLeft: Int

    init(_ fault: FaultInjection) {
        self.fault = fault
        bytesLeft =
            switch fault {
            case .none: .max
            case .stall(let bytes), .cut(let bytes): bytes
            }
    }

    var isReached: Bool { bytesLeft == 0 }

    var isCut: Bool {
        if case .cut = fault { isReached } else { false }
    }

    /// Returns the bytes that arrive before the fault.
    mutating func pass(_ bytes: ByteBuffer) -> ByteBuffer {
        let part = bytes.getSlice(at: bytes.readerIndex, length: min(bytesLeft, bytes.readableBytes)) ?? bytes
        if fault != .none { bytesLeft -= part.readableBytes }
        return part
    }
}

/// Promises of writes that the link has not accepted completely.
struct PendingWrites {
    private struct Write {
        let endsAt: Int
        let promise: EventLoopPromise<Void>
    }

    private var writes: [Write] = []
    private var offeredBytes = 0

    mutating func begin(_ bytes: Int, _ promise: EventLoopPromise<Void>?) {
        offeredBytes += bytes
        if let promise { writes.append(Write(endsAt: offeredBytes, promise: promise)) }
    }

    /// Succeeds the promises of writes within the first `loadedBytes` bytes.
    mutating func end(at loadedBytes: Int) {
        let done = writes.prefix { $0.endsAt <= loadedBytes }
        writes.removeFirst(done.count)
        done.forEach { $0.promise.succeed() }
    }

    mutating func fail(_ error: any Error) {
        let open = writes
        writes = []
        open.forEach { $0.promise.fail(error) }
    }
}

/// A requested close that waits until all bytes have arrived.
struct PendingClose {
    private(set) var isRequested = false
    private(set) var mode = CloseMode.output
    var promise: EventLoopPromise<Void>?
    /// Whether the close was carried out; later requests pass through immediately.
    var isDone = false

    mutating func request(_ mode: CloseMode, _ promise: EventLoopPromise<Void>?) {
        if mode == .all { self.mode = .all }
        isRequested = true
        if let first = self.promise { first.futureResult.cascade(to: promise) } else { self.promise = promise }
    }

    mutating func takePromise() -> EventLoopPromise<Void>? {
        defer { promise = nil }
        return promise
    }
}
