import NIOCore

/// The origin's end of a relay: reads only as fast as the phone's link takes it.
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
