public import NIOCore
import NIOPosix

/// The client side of a relay: opens a connection to the origin and forwards all bytes.
public final class RelayHandler: ChannelInboundHandler, ChannelOutboundHandler {
    public typealias InboundIn = ByteBuffer
    public typealias OutboundIn = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    private let host: String
    private let port: Int
    private let waitingBytesMax: Int
    private var origin: (any Channel)?
    private var isReady = false
    private var wantsRead = false
    /// Bytes received before the origin was connected; nothing more is read until then.
    private var early: [ByteBuffer] = []
    private var endedEarly = false

    public init(host: String, port: Int, profile: LinkProfile) {
        self.host = host
        self.port = port
        waitingBytesMax = profile.readAheadBytes
    }

    public func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (phone, waitingBytesMax) = (context.channel, waitingBytesMax)
        ClientBootstrap(group: context.eventLoop)
            .channelOption(.autoRead, value: false)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        OriginHandler(phone: phone, relay: bound, waitingBytesMax: waitingBytesMax))
                }
            }
            .connect(host: host, port: port)
            .whenComplete { reached in
                let (handler, context) = bound.value
                handler.open(try? reached.get(), context)
            }
        context.fireChannelActive()
    }

    private func open(_ channel: (any Channel)?, _ context: ChannelHandlerContext) {
        guard let channel, context.channel.isActive else {
            channel?.close(promise: nil)
            return context.close(promise: nil)
        }
        origin = channel
        isReady = true
        for bytes in early { channel.write(bytes, promise: nil) }
        early = []
        channel.flush()
        if endedEarly { channel.close(mode: .output, promise: nil) }
        channel.read()
        resume(context)
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let origin, isReady else { return early.append(unwrapInboundIn(data)) }
        origin.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    public func read(context: ChannelHandlerContext) {
        wantsRead = true
        resume(context)
    }

    /// Continues reading when the origin is writable.
    func resume(_ context: ChannelHandlerContext) {
        guard wantsRead, isReady, origin?.isWritable == true else { return }
        wantsRead = false
        context.read()
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        if let origin { origin.close(mode: .output, promise: nil) } else { endedEarly = true }
    }

    public func channelInactive(context: ChannelHandlerContext) {
        origin?.close(promise: nil)
        context.fireChannelInactive()
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// The origin side of a relay: reads only as fast as the client's link accepts bytes.
final class OriginHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let phone: any Channel
    private let relay: NIOLoopBound<(RelayHandler, ChannelHandlerContext)>
    private var waitingBytes = 0
    private var wantsRead = false

    private let waitingBytesMax: Int

    init(phone: any Channel, relay: NIOLoopBound<(RelayHandler, ChannelHandlerContext)>, waitingBytesMax: Int) {
        self.phone = phone
        self.waitingBytesMax = waitingBytesMax
        self.relay = relay
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        let count = bytes.readableBytes
        waitingBytes += count
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        phone.writeAndFlush(bytes).whenComplete { _ in
            let (handler, context) = bound.value
            handler.waitingBytes -= count
            handler.resume(context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        wantsRead = true
        resume(context)
    }

    private func resume(_ context: ChannelHandlerContext) {
        guard wantsRead, waitingBytes < waitingBytesMax else { return }
        wantsRead = false
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let (handler, context) = relay.value
        handler.resume(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { phone.close(mode: .output, promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        phone.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
