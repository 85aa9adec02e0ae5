public import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A loopback port whose connections are shaped like those of phones on one network.
public struct ShapedListener: Sendable {
    /// The source of the responses.
    public enum Source: Sendable {
        case folder(ServedFolder)
        case origin(host: String, port: Int)
    }

    public let profile: LinkProfile
    /// The port; 0 selects a free one.
    public let port: Int
    public let source: Source
    /// Round trips until the first response byte on a new connection, including that of the request.
    public var roundTrips = 2
    /// Whether all connections share one link, like phones in one cell.
    public var isShared = false
    public var fault = FaultInjection.none
    public let connections: ConnectionLimit

    public init(_ profile: LinkProfile, port: Int, source: Source, connections: ConnectionLimit) {
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
        try handlers.addHandler(ShapingHandler(links: links, roundTrips: roundTrips, fault: fault))
        switch source {
        case .folder(let folder):
            try handlers.configureHTTPServerPipeline(withErrorHandling: true)
            try handlers.addHandler(FileHandler(folder: folder, profile: profile))
        case .origin(let host, let port):
            try handlers.addHandler(RelayHandler(host: host, port: port, profile: profile))
        }
    }
}

/// Limits the number of simultaneous connections; further ones are closed.
public final class ConnectionLimit: Sendable {
    private let max: Int
    private let open = Mutex(0)

    public init(max: Int) {
        self.max = max
    }

    func begin() -> Bool {
        open.withLock { count in
            guard count < max else { return false }
            count += 1
            return true
        }
    }

    func end() {
        open.withLock { $0 -= 1 }
    }
}
