public import NIOCore
import NIOHTTP1
import NIOPosix

/// A port of loopback whose connections are phones on one network.
public struct ShapedListener: Sendable {
    /// Where the bytes come from.
    public enum Source: Sendable {
        case folder(ServedFolder)
        case origin(host: String, port: Int)
    }

    public let profile: LinkProfile
    /// 0 takes a free one.
    public let port: Int
    public let source: Source
    /// Until the first byte of an answer on a new connection, the request's own included.
    public var roundTrips = 2
    /// All connections share one link, as the phones of a cell do.
    public var isShared = false
    public var fate = ConnectionFate.none
    public let connections: ConnectionCount

    public init(_ profile: LinkProfile, port: Int, source: Source, connections: ConnectionCount) {
        self.profile = profile
        self.port = port
        self.source = source
        self.connections = connections
    }

    /// Listens until the process ends.
    public func bind(on group: any EventLoopGroup) async throws -> any Channel {
        let cell = isShared ? LinkPair(profile) : nil
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 65_536, high: 262_144))
            .childChannelInitializer { channel in
                guard connections.begin() else { return channel.close() }
                channel.closeFuture.whenComplete { _ in connections.end() }
                let links = cell ?? LinkPair(profile)
                return channel.eventLoop.makeCompletedFuture { try addHandlers(to: channel, links) }
            }
            .bind(host: "127.0.0.1", port: port).get()
    }

    private func addHandlers(to channel: any Channel, _ links: LinkPair) throws {
        let handlers = channel.pipeline.syncOperations
        try handlers.addHandler(ShapingHandler(links: links, roundTrips: roundTrips, fate: fate))
        switch source {
        case .folder(let folder):
            try handlers.configureHTTPServerPipeline(withErrorHandling: true)
            try handlers.addHandler(FileHandler(folder: folder, profile: profile))
        case .origin(let host, let port):
            try handlers.addHandler(RelayHandler(host: host, port: port, profile: profile))
        }
    }
}
