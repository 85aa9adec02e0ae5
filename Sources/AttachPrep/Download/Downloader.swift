internal import Curl
package import RichPush

/// Fetches media from the web into files, many at a time, with connections kept for the next one.
///
/// ```swift
/// let downloader = try Downloader(policy: DownloadPolicy(), inFlightMax: Limits.requestsInFlight)
/// let request = DownloadRequest(url: "https://cdn.example/cat.webp", deadline: .now + .seconds(30))
/// let file = try await downloader.download(request, into: descriptor) { bytes, isComplete in
///     .accepted(bytesMax: Limits.imageSourceBytesMax, tooLarge: tooLarge)
/// }
/// ```
///
/// - Names are resolved and redirects followed here, never by libcurl: each hop's whole answer is held against the
///   table of refused addresses before a packet leaves, and each connection and each request once more.
/// - Everything is bounded: redirects, headers, body, the stages' times and tries, and all of it by the deadline.
/// - A broken transfer goes on where it broke when the server can do that, and begins anew when it cannot.
package final class Downloader: Sendable {
    let policy: DownloadPolicy
    let timeouts: DownloadTimeouts
    let wall: AddressWall
    let directory: HostDirectory
    let proxy: ProxyServer?
    let slots: DownloadSlots
    let loop: TransferLoop
    let traffic = TrafficCounter()

    /// - Parameters:
    ///   - inFlightMax: transfers at a time; further ones wait in order.
    ///   - exemptAddresses: let through although the table refuses them; for tests, whose servers stand on loopback.
    ///   - onAbandonedLoop: told how many transfer loops were abandoned so far, whenever one more is.
    /// - Throws: `request.invalid` for an override that cannot be read, `internal` when libcurl does not start.
    package init(
        policy: DownloadPolicy, resolver: any NameResolver = SystemNameResolver(),
        inFlightMax: Int = Limits.requestsInFlight, timeouts: DownloadTimeouts = DownloadTimeouts(),
        exemptAddresses: Set<IPAddress> = [], onAbandonedLoop: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(AttachPrepError) {
        self.policy = policy
        self.timeouts = timeouts
        let isOpen = policy.allowsPrivateNetwork || policy.proxy != nil
        wall = AddressWall(isOpen: isOpen, exempt: exemptAddresses)
        let overrides = try ResolveOverrides(policy.resolveOverrides)
        directory = HostDirectory(resolver: resolver, overrides: overrides, wall: wall, timeout: timeouts.resolve)
        proxy = try policy.proxy.map { text throws(AttachPrepError) in try ProxyServer(text) }
        slots = DownloadSlots(inFlightMax)
        do {
            loop = try TransferLoop(idleConnectionsMax: inFlightMax, onAbandoned: onAbandonedLoop)
        } catch {
            throw .internalFailure(error.description)
        }
    }

    /// Fetches one file.
    ///
    /// The body is written to `descriptor` as it arrives and hashed on the way; the descriptor is borrowed, must be
    /// that of a regular file, and its offset is not used.
    /// - Parameter onPrefix: asked, never on the curl thread, when the first `Limits.identifyBytesFirst` bytes have
    ///   arrived, while it is undecided again at `Limits.identifyBytesLast`, and last when the body is complete (an
    ///   empty one too). Meanwhile no more than a piece is read, but over HTTP/2. When it throws, the transfer ends and
    ///   its error is thrown. When a further try brings the body from its beginning, it is asked from the beginning.
    /// - Throws: `AttachPrepError`, or what `onPrefix` throws.
    package func download(
        _ request: DownloadRequest, into descriptor: CInt,
        onPrefix: @escaping @Sendable (_ bytesSoFar: Int, _ isComplete: Bool) async throws -> DownloadVerdict
    ) async throws -> DownloadedFile {
        var run = try DownloadRun(downloader: self, request: request, descriptor: descriptor, onPrefix: onPrefix)
        return try await run.run()
    }

    /// Bytes of bodies so far, as they were handed on by libcurl; those of failures and redirects too.
    package var receivedBytes: Int { traffic.bytes }

    /// Transfer loops that were abandoned because libcurl did not come back from a call.
    package var abandonedLoops: Int { loop.abandonedCount }

    /// Ends every download with `cancelled`, closes every connection, and returns when the curl thread is done.
    package func shutdown() async {
        await loop.shutdown()
    }
}
