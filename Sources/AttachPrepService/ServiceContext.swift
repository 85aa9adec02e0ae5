import Hummingbird
import Logging
import NIOCore

/// What is known of a request beside itself.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// Names the request in answers and log lines.
    let requestID: String
    /// Whose request it is: the digest of its token, or `local`.
    var caller = "local"

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        requestID = source.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? "unknown"
        logger[metadataKey: "hb.request.id"] = nil
        logger[metadataKey: "request"] = "\(requestID)"
    }

    /// The address of the other end; nil when it is gone.
    var peer: String? { channel.remoteAddress?.ipAddress }
}
