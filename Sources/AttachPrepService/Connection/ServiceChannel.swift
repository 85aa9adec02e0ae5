import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import RichPush

/// A connection's handlers. Hummingbird's own set has no limit on time for bodies and answers, answers broken requests
/// without a body, and knows neither HTTP/1.0 nor `Expect`: `ConnectionGuard` does all of that.
struct ServiceChannel: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let rules: ConnectionRules
    let count: ConnectionCount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
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

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
