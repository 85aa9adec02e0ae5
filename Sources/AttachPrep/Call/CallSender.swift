internal import Curl
package import RichPush
internal import SafeArithmetic

/// Sends single requests, such as webhooks, past the same walls as downloads and over connections that are kept.
///
/// ```swift
/// let sender = try CallSender(networks: [AddressBlock("10.2.0.0/16")])
/// let answer = try await sender.send(
///     WebCall(.post, "https://hooks.example/in", body: body, answerBytesMax: 1_000, deadline: .now + .seconds(20)))
/// ```
///
/// - Names are resolved here, the whole answer is held against the table of refused addresses before a packet leaves,
///   and each connection and each request once more. A redirect is an answer: it is never followed.
/// - Everything is bounded: what is sent, the answer's headers, what is kept of its body, and all by one deadline.
package final class CallSender: Sendable {
    private let policy: DownloadPolicy
    private let timeouts: DownloadTimeouts
    private let wall: AddressWall
    private let trustsServers: Bool
    private let directory: HostDirectory
    private let loop: TransferLoop

    /// - Parameters:
    ///   - policy: as for downloads, but for the proxy: calls go straight to their host.
    ///   - networks: let through although the table of refused addresses has them.
    ///   - exemptAddresses: the same, for tests, whose servers stand on loopback.
    ///   - trustsServers: whether all calls go to servers of the operator's own: their connections are kept with TLS
    ///     too.
    ///   - onAbandonedLoop: told how many transfer loops were abandoned so far, whenever one more is.
    /// - Throws: `request.invalid` for an override that cannot be read, `internal` when libcurl does not start.
    package init(
        policy: DownloadPolicy = DownloadPolicy(), networks: [AddressBlock] = [],
        resolver: any NameResolver = SystemNameResolver(), timeouts: DownloadTimeouts = DownloadTimeouts(),
        exemptAddresses: Set<IPAddress> = [], trustsServers: Bool = false,
        onAbandonedLoop: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(AttachPrepError) {
        self.trustsServers = trustsServers
        self.policy = policy
        self.timeouts = timeouts
        wall = AddressWall(isOpen: policy.allowsPrivateNetwork, exempt: exemptAddresses, networks: networks)
        let overrides = try ResolveOverrides(policy.resolveOverrides)
        directory = HostDirectory(resolver: resolver, overrides: overrides, wall: wall, timeout: timeouts.resolve)
        do {
            loop = try TransferLoop(
                idleConnectionsMax: Limits.callConnectionsIdleMax, onAbandoned: onAbandonedLoop)
        } catch {
            throw .internalFailure(error.description)
        }
    }

    /// Sends one request, once.
    ///
    /// - Returns: the answer as soon as its head is whole and its body is over, long enough, or broken off.
    /// - Throws: `AttachPrepError` when no answer came: `source.invalid_url`, `source.scheme_not_allowed`,
    ///   `source.address_blocked`, `request.…` for what cannot be sent, `download.…`, `deadline.exceeded`, `cancelled`.
    package func send(_ call: WebCall) async throws -> WebAnswer {
        guard call.body.count <= Limits.callBytesMax else { throw AttachPrepError.callTooLarge(call.body.count) }
        let address = try WebAddress(call.url, httpsOnly: policy.httpsOnly)
        let headers = try RequestHeaders(call.headers)
        do {
            let host = try await directory.look(up: address.host, address.port, before: call.deadline)
            return try await exchange(settings(call, to: address, headers, pinned: host), call, address.host)
        } catch let failure as TemporaryNameFailure {
            throw failure.error
        } catch is CancellationError {
            throw AttachPrepError.cancelled(address.host).ofCall(to: address.host)
        } catch let error as AttachPrepError {
            throw error.ofCall(to: address.host)
        }
    }

    /// Ends every call with `cancelled`, closes every connection, and returns when the curl thread is done.
    package func shutdown() async {
        await loop.shutdown()
    }

    private func exchange(_ settings: TransferSettings, _ call: WebCall, _ host: String) async throws -> WebAnswer {
        let exchange = CallExchange(host: host, wall: wall, bytesMax: call.answerBytesMax)
        let report = await loop.perform(settings, observer: exchange)
        if let refusal = exchange.refusal { throw refusal }
        let isComplete = report.ending == .completed
        // What a caller does not want any more it does not get, however much of it has come.
        if report.ending != .cancelled,
            let answer = exchange.answer(isComplete: isComplete, retryAfter: report.retryAfter)
        {
            return answer
        }
        let facts = TransferFailure.Facts(
            host: host, limits: limits(of: call), hasHead: false, bytes: 0, total: nil, proxyStatus: nil)
        let failure = TransferFailure(report.ending, facts)
        throw failure?.error ?? .notHTTP(host, "an end without a final answer")
    }

    private func settings(
        _ call: WebCall, to address: WebAddress, _ headers: RequestHeaders, pinned host: PinnedHost
    ) -> TransferSettings {
        let timeouts = limits(of: call)
        let limits = TransferLimits(
            connect: timeouts.connect, firstByte: timeouts.firstByte, stall: timeouts.stall,
            stallBytesMin: timeouts.stallBytesMin, deadline: call.deadline)
        let lines = headers.lines(
            isFirstOrigin: true, authorization: address.basicAuthorization, resuming: nil)
        var settings = TransferSettings(url: address.text, headers: lines, limits: limits)
        if let signature = call.signature {
            settings.signature = signature
            settings.headers = headers.signedLines
            settings.userAgent = RequestHeaders.userAgent
        }
        settings.method = call.method.transferred
        settings.body = call.body
        settings.upload = call.upload
        settings.trustsServer = trustsServers
        settings.pins = address.literal == nil ? [host.pin] : []
        settings.certificateAuthorityFile = policy.certificateAuthorityFile
        settings.opensConnection = !call.isRepeatable
        settings.assumesHTTP2 = policy.assumesHTTP2
        return settings
    }

    /// An answer may take as long as the whole call: some wait for work to be done.
    private func limits(of call: WebCall) -> DownloadTimeouts {
        var limits = timeouts
        let left = max(.zero, ContinuousClock.now.duration(to: call.deadline))
        limits.firstByte = call.answerSecondsMax.map { min(left, .seconds(clamping: $0)) } ?? left
        return limits
    }
}

extension WebCall.Method {
    fileprivate var transferred: TransferMethod {
        switch self {
        case .get: .get
        case .post: .post
        case .delete: .delete
        case .head: .head
        case .put: .put
        }
    }
}
