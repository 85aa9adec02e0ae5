import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import MediaTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import SafeArithmetic

/// The channel handlers of a connection.
///
/// Hummingbird's own handlers have no timeouts for bodies and responses, answer malformed requests without a body, and
/// support neither HTTP/1.0 nor `Expect`; `ConnectionGuard` does all of that.
struct ServiceChannel: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let rules: ConnectionRules
    let connections: ConnectionRegistry

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try Self.boundBuffers(of: channel)
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = Limits.requestHeaderBytesMax
            limits.maxHeaderListSize = Limits.requestHeaderBytesMax
            let handlers = channel.pipeline.syncOperations
            let declaredLength = DeclaredLengthReader()
            try handlers.addHandler(declaredLength)
            try handlers.addHandler(
                ByteToMessageHandler(
                    HTTPRequestDecoder(
                        leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop,
                        limitConfiguration: limits)))
            try handlers.addHandler(HTTPResponseEncoder())
            try handlers.addHandler(
                ConnectionGuard(rules: rules, connections: connections, declaredLength: declaredLength))
            try handlers.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    /// Limits the buffers for unread responses. Bytes that a client does not read are held by the writer, by NIO's
    /// pending writes and by the kernel; by default, NIO's are unbounded and the kernel's up to 4 MB
    /// (`net.ipv4.tcp_wmem`).
    private static func boundBuffers(of channel: any Channel) throws {
        let options = channel.syncOptions
        // Writers wait as soon as a write is pending, and continue when nothing is.
        try options?.setOption(.writeBufferWaterMark, value: .init(low: 1, high: Int(clamping: unsentBytesMax)))
        // Not SO_SNDBUF, which would also limit bytes in flight, and so the throughput to distant clients. Fails on
        // channels that are not TCP sockets, as in tests.
        try? options?.setOption(.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: .init(unsentBytesMax))
    }

    /// Bytes not yet sent that the kernel and NIO buffer each.
    private static let unsentBytesMax: CInt = 16_384

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}

/// Keeps the listener alive when accept(2) fails for lack of file descriptors or memory, by pausing for 200 ms.
///
/// Without it, Hummingbird stops the server at the first such error, and NIO retries in a busy loop. Runs on its event
/// loop.
final class AcceptErrorHandler: ChannelDuplexHandler {
    typealias InboundIn = Any
    typealias OutboundIn = Never

    private let logger: Logger
    private var isPausing = false
    private var isReadWanted = false

    init(logger: Logger) {
        self.logger = logger
    }

    /// The pause between attempts: negligible load, and a delay that clients hardly notice.
    private static let pause = TimeAmount.milliseconds(200)

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isPausing else { return }
        logger.warning("cannot accept connections", metadata: ["error": "\(error)"])
        isPausing = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = bound.value
            handler.resume(context: context)
        }
    }

    func read(context: ChannelHandlerContext) {
        guard isPausing else { return context.read() }
        isReadWanted = true
    }

    private func resume(context: ChannelHandlerContext) {
        isPausing = false
        guard isReadWanted else { return }
        isReadWanted = false
        context.read()
    }
}

extension Limits {
    /// Total header bytes of a request; proxies and servers commonly accept 8 to 16 KB.
    static let requestHeaderBytesMax = 16_384
}
