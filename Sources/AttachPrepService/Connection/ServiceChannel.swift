import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import RichPush
import SafeArithmetic

/// A connection's handlers. Hummingbird's own set has no limit on time for bodies and answers, answers broken requests
/// without a body, and knows neither HTTP/1.0 nor `Expect`: `ConnectionGuard` does all of that.
struct ServiceChannel: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let rules: ConnectionRules
    let count: ConnectionCount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try Self.boundBuffers(of: channel)
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = Limits.requestHeaderBytesMax
            limits.maxHeaderListSize = Limits.requestHeaderBytesMax
            let handlers = channel.pipeline.syncOperations
            try handlers.addHandler(
                ByteToMessageHandler(
                    HTTPRequestDecoder(
                        leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop,
                        limitConfiguration: limits)))
            try handlers.addHandler(HTTPResponseEncoder())
            try handlers.addHandler(ConnectionGuard(rules: rules, count: count))
            try handlers.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    /// What a client does not read waits in three places: in a part that its writer has, in NIO's list of writes, and
    /// in the kernel. Without these, the list takes what it gets, and the kernel up to 4 MB (`net.ipv4.tcp_wmem`).
    private static func boundBuffers(of channel: any Channel) throws {
        let options = channel.syncOptions
        // Writers wait as soon as a write was not taken whole, and go on when all of it was.
        try options?.setOption(.writeBufferWaterMark, value: .init(low: 1, high: Int(clamping: unsentBytesMax)))
        // Not SO_SNDBUF, which would bound what is on its way as well, and so the speed of distant clients. A channel
        // that is no TCP socket has no such option.
        try? options?.setOption(.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: .init(unsentBytesMax))
    }

    /// Bytes that the kernel takes ahead of the network, and NIO ahead of the kernel.
    private static let unsentBytesMax: CInt = 16_384

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
