import Logging
import NIOCore

/// Keeps the listener alive when connections cannot be accepted (no file descriptors, no memory): Hummingbird ends the
/// whole server with the first such error, and NIO would try again at once, for ever. Runs on its event loop.
final class AcceptFaults: ChannelDuplexHandler {
    typealias InboundIn = Any
    typealias OutboundIn = Never

    private let logger: Logger
    private var isPausing = false
    private var isReadWanted = false

    init(logger: Logger) {
        self.logger = logger
    }

    /// Between tries: long enough to cost nothing, short enough that callers hardly notice.
    private static let pause = TimeAmount.milliseconds(200)

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isPausing else { return }
        logger.warning("Connections cannot be accepted.", metadata: ["error": "\(error)"])
        isPausing = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = bound.value
            handler.goOn(context: context)
        }
    }

    func read(context: ChannelHandlerContext) {
        guard isPausing else { return context.read() }
        isReadWanted = true
    }

    private func goOn(context: ChannelHandlerContext) {
        isPausing = false
        guard isReadWanted else { return }
        isReadWanted = false
        context.read()
    }
}
