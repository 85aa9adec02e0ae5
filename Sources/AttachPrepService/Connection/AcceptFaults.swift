import Logging
import NIOCore

/// Keeps the listener alive when a connection cannot be accepted (no file descriptors, gone again): Hummingbird ends
/// the whole server with the first such error.
final class AcceptFaults: ChannelInboundHandler, Sendable {
    typealias InboundIn = Any

    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.warning("A connection could not be accepted.", metadata: ["error": "\(error)"])
    }
}
