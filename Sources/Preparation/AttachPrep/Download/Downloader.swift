package import AttachPrepModel
internal import Curl
package import MediaTypes
internal import SafeArithmetic
internal import Synchronization

/// Downloads media over http and https into files, several at a time, and reuses connections.
///
/// ```swift
/// let downloader = try Downloader(policy: DownloadPolicy(), inFlightMax: Limits.requestsInFlight)
/// let request = DownloadRequest(url: "https://cdn.example/cat.webp", deadline: .now + .seconds(30))
/// let file = try await downloader.download(request, into: descriptor) { bytes, isComplete in
///     .accepted(bytesMax: Limits.imageSourceBytesMax, tooLarge: tooLarge)
/// }
/// ```
///
/// - Names are resolved and redirects are followed here, never by libcurl. All addresses of each hop are checked
///   against the address policy before a connection is made; each connection and each request is checked again.
/// - Redirects, header and body sizes, the time of each stage and the attempts are limited, and everything ends by the
///   deadline.
/// - An interrupted transfer resumes with a range request if the server supports it; otherwise it starts over.
package final class Downloader: Sendable {
    let policy: DownloadPolicy
    let timeouts: DownloadTimeouts
    let addressPolicy: AddressPolicy
    let hostResolver: HostResolver
    let proxy: ProxyServer?
    let slots: DownloadSlots
    let loop: TransferLoop
    let traffic = TrafficCounter()

    /// - Parameters:
    ///   - inFlightMax: Transfers at a time; further ones wait in order.
    ///   - exemptAddresses: Allowed although blocked by default; for tests, whose servers listen on loopback.
    ///   - onAbandonedLoop: Called with the number of abandoned transfer loops whenever another one is abandoned.
    /// - Throws: `request.invalid` for an invalid override or proxy, `internal` when libcurl does not start.
    package init(
        policy: DownloadPolicy, resolver: any NameResolver = SystemNameResolver(),
        inFlightMax: Int = Limits.requestsInFlight, timeouts: DownloadTimeouts = DownloadTimeouts(),
        exemptAddresses: Set<IPAddress> = [], onAbandonedLoop: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(AttachPrepError) {
        self.policy = policy
        self.timeouts = timeouts
        let isOpen = policy.allowsPrivateNetwork || policy.proxy != nil
        addressPolicy = AddressPolicy(isOpen: isOpen, exempt: exemptAddresses)
        let overrides = try ResolveOverrides(policy.resolveOverrides)
        hostResolver = HostResolver(
            resolver: resolver, overrides: overrides, addressPolicy: addressPolicy, timeout: timeouts.resolve)
        proxy = try policy.proxy.map { text throws(AttachPrepError) in try ProxyServer(text) }
        slots = DownloadSlots(inFlightMax)
        do {
            loop = try TransferLoop(idleConnectionsMax: inFlightMax, onAbandoned: onAbandonedLoop)
        } catch {
            throw .internalFailure(error.description)
        }
    }

    /// Downloads one file.
    ///
    /// The body is written to `descriptor` and hashed as it is received. The descriptor is borrowed and must belong
    /// to a regular file; its file offset is not used.
    /// - Parameter onPrefix: Returns the verdict on the bytes so far. Called off the curl thread when
    ///   `Limits.identifyBytesFirst` bytes were received; while undecided, again at `Limits.identifyBytesLast` and when
    ///   the body is complete, even if empty. During the call reading pauses after at most one piece, except over
    ///   HTTP/2. If it throws, the transfer ends with its error. If an attempt starts the body over, the calls start
    ///   over as well.
    /// - Throws: `AttachPrepError`, or what `onPrefix` throws.
    package func download(
        _ request: DownloadRequest, into descriptor: CInt,
        onPrefix: @escaping @Sendable (_ bytesSoFar: Int, _ isComplete: Bool) async throws -> DownloadVerdict
    ) async throws -> DownloadedFile {
        var run = try DownloadRun(downloader: self, request: request, descriptor: descriptor, onPrefix: onPrefix)
        return try await run.run()
    }

    /// Body bytes received from libcurl so far, including those of failures and redirects.
    package var receivedBytes: Int { traffic.bytes }

    /// Transfer loops abandoned because a libcurl call did not return.
    package var abandonedLoops: Int { loop.abandonedCount }

    /// Ends every download with `cancelled`, closes all connections, and returns when the curl thread has ended.
    package func shutdown() async {
        await loop.shutdown()
    }
}

/// What to download, and its limits.
package struct DownloadRequest: Sendable {
    /// The URL as the caller wrote it; user info becomes Basic authentication for the first origin.
    package var url: String
    /// Sent only to the first origin (scheme, host, port).
    package var headers: [(name: String, value: String)]
    /// The size limit of the decoded body in bytes, until a verdict sets a lower one.
    package var bytesMax: Int
    /// When the download must have ended, including retries.
    package var deadline: ContinuousClock.Instant
    /// Validators of the version fetched before; `UnchangedSourceError` is thrown when the server confirms it.
    package var validators: SourceValidators?
    /// Notified as the body is received.
    package var observer: (any DownloadObserver)?

    package init(
        url: String, headers: [(name: String, value: String)] = [], bytesMax: Int = Limits.sourceBytesMax,
        deadline: ContinuousClock.Instant
    ) {
        self.url = url
        self.headers = headers
        self.bytesMax = bytesMax
        self.deadline = deadline
    }
}

/// The result of a download; the body is in the file of the descriptor that was passed.
package struct DownloadedFile: Sendable, Hashable {
    /// The URL after redirects, without user info and with secret query values redacted.
    package var finalURL: String
    /// The server's `Content-Type` in lowercase, without parameters.
    package var declaredMIMEType: String?
    /// Decoded bytes in the file.
    package var bytes: Int
    /// Hash of those bytes, in lowercase hexadecimal.
    package var sha256: String
    /// The number of this body, from 1: a body that started over is a new generation, and bytes read from an earlier
    /// one are invalid.
    package var generation = 1
    package var timings: DownloadTimings
    /// HTTP version of the last response: "1.0", "1.1" or "2".
    package var httpVersion: String?
    /// Attempts including the first; redirects do not count.
    package var attempts: Int
    /// The freshness that the responses declared, redirects included.
    package var freshness = SourceFreshness()
}

/// Milliseconds per stage, summed over redirects and retries.
package struct DownloadTimings: Sendable, Hashable {
    package var dns = 0.0
    package var connect = 0.0
    package var tls = 0.0
    package var firstByte = 0.0
    package var transfer = 0.0

    package init() {}
}

/// The caller's decision on the first bytes of a body.
package enum DownloadVerdict: Sendable, Hashable {
    /// The format is not identified yet; the verdict is requested again when more bytes were received.
    case undecided
    /// The content is accepted up to `bytesMax` bytes; `tooLarge` is thrown when more are declared or received.
    case accepted(bytesMax: Int, tooLarge: AttachPrepError)
}

/// Receives progress of a body on the curl thread; its methods must return quickly.
package protocol DownloadObserver: Sendable {
    /// The body starts, or starts over with the file truncated.
    ///
    /// - Parameter generation: The number of this start, from 1. Within a generation, bytes are only appended.
    func bodyBegan(generation: Int)

    /// The file has `bytes` bytes now.
    ///
    /// - Parameter total: The declared size of the whole body in bytes; nil if the server declared none.
    func received(bytes: Int, of total: Int?)
}

extension Duration {
    /// Text for messages: "10 s", "0.25 s".
    var inSeconds: String {
        let seconds = self / .seconds(1)
        return seconds == seconds.rounded() ? "\(Int(clamping: seconds)) s" : "\(seconds) s"
    }

    var milliseconds: Double { self / .milliseconds(1) }
}

/// Counts the body bytes of all transfers.
final class TrafficCounter: Sendable {
    private let count = Atomic(0)

    var bytes: Int { count.load(ordering: .relaxed) }

    func add(_ bytes: Int) {
        count.add(bytes, ordering: .relaxed)
    }
}

/// The library used for downloads, as shown by `doctor`.
public enum DownloadLibrary {
    /// The version string of libcurl and of the libraries it was built with.
    public static var version: String { CurlLibrary.version }
}

extension Limits {
    /// A connection that takes longer than a third of the default budget leaves no time for the body.
    static let connectSecondsMax = 10.0
    /// From the request to the end of the response head, so that a server cannot send headers one byte at a time.
    static let firstByteSecondsMax = 15.0
    /// A transfer with almost no bytes for this long is considered dead.
    package static let stallSecondsMax = 10.0
    /// Bytes that must be received in that time: at 1 KB/s no media is complete within a budget, and the
    /// transfer holds a slot.
    static let stallBytesMin = 10_000
    /// A name that is not resolved by then will not be resolved within the budget.
    static let resolveSecondsMax = 5.0
    /// Back-off before the second attempt; doubled for each further one, with random jitter.
    static let retryBackOffSeconds = 0.2
}
