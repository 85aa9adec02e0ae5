package import AttachPrepModel
package import Curl
package import MediaTypes
internal import SafeArithmetic

/// Sends single HTTP requests, such as webhooks, under the same address policy as downloads, and reuses connections.
///
/// ```swift
/// let client = try HTTPClient(networks: [AddressBlock("10.2.0.0/16")])
/// let response = try await client.send(
///     HTTPClientRequest(
///         .post, "https://hooks.example/in", body: body, responseBytesMax: 1_000, deadline: .now + .seconds(20)))
/// ```
///
/// - Names are resolved here. All addresses are checked against the address policy before a connection is made; each
///   connection and each request is checked again. Redirects are returned as responses and never followed.
/// - The request body, the response headers and the stored response body are limited in size, and everything ends by
///   the deadline.
package final class HTTPClient: Sendable {
    private let policy: DownloadPolicy
    private let timeouts: DownloadTimeouts
    private let addressPolicy: AddressPolicy
    private let trustsServers: Bool
    private let hostResolver: HostResolver
    private let loop: TransferLoop

    /// - Parameters:
    ///   - policy: As for downloads, except that the proxy is ignored: requests go directly to their host.
    ///   - networks: Networks that are allowed although they are blocked by default.
    ///   - exemptAddresses: Allowed addresses for tests, whose servers listen on loopback.
    ///   - trustsServers: Whether all requests go to the operator's own servers; TLS connections are then reused too.
    ///   - onAbandonedLoop: Called with the number of abandoned transfer loops whenever another one is abandoned.
    /// - Throws: `request.invalid` for an invalid override, `internal` when libcurl does not start.
    package init(
        policy: DownloadPolicy = DownloadPolicy(), networks: [AddressBlock] = [],
        resolver: any NameResolver = SystemNameResolver(), timeouts: DownloadTimeouts = DownloadTimeouts(),
        exemptAddresses: Set<IPAddress> = [], trustsServers: Bool = false,
        onAbandonedLoop: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(AttachPrepError) {
        self.trustsServers = trustsServers
        self.policy = policy
        self.timeouts = timeouts
        addressPolicy = AddressPolicy(isOpen: policy.allowsPrivateNetwork, exempt: exemptAddresses, networks: networks)
        let overrides = try ResolveOverrides(policy.resolveOverrides)
        hostResolver = HostResolver(
            resolver: resolver, overrides: overrides, addressPolicy: addressPolicy, timeout: timeouts.resolve)
        do {
            loop = try TransferLoop(
                idleConnectionsMax: Limits.httpIdleConnectionsMax, onAbandoned: onAbandonedLoop)
        } catch {
            throw .internalFailure(error.description)
        }
    }

    /// Sends one request without retries.
    ///
    /// - Returns: The response, once its head is complete and its body has ended, reached `responseBytesMax`, or was
    ///   interrupted.
    /// - Throws: `AttachPrepError` when no response was received: `source.invalid_url`, `source.scheme_not_allowed`,
    ///   `source.address_blocked`, `request.…` for an invalid request, `download.…`, `deadline.exceeded`, `cancelled`.
    package func send(_ call: HTTPClientRequest) async throws -> HTTPClientResponse {
        guard call.body.count <= call.bodyBytesMax else {
            throw AttachPrepError.requestBodyTooLarge(call.body.count, limit: call.bodyBytesMax)
        }
        let address = try WebAddress(call.url, httpsOnly: policy.httpsOnly)
        let headers = try RequestHeaders(call.headers)
        do {
            let host = try await hostResolver.resolve(name: address.host, address.port, before: call.deadline)
            return try await exchange(
                settings(call, to: address, headers: headers, pinned: host), call: call, host: address.host)
        } catch let failure as TemporaryNameError {
            throw failure.error
        } catch is CancellationError {
            throw AttachPrepError.cancelled(address.host).ofCall(to: address.host)
        } catch let error as AttachPrepError {
            throw error.ofCall(to: address.host)
        }
    }

    /// Ends every request with `cancelled`, closes all connections, and returns when the curl thread has ended.
    package func shutdown() async {
        await loop.shutdown()
    }

    private func exchange(_ settings: TransferSettings, call: HTTPClientRequest, host: String) async throws
        -> HTTPClientResponse
    {
        let exchange = HTTPClientExchange(host: host, addressPolicy: addressPolicy, bytesMax: call.responseBytesMax)
        let report = await loop.perform(settings, observer: exchange)
        if let abortError = exchange.abortError { throw abortError }
        let isComplete = report.ending == .completed
        // A cancelled caller gets an error even if part of the response was received.
        if report.ending != .cancelled,
            let answer = exchange.answer(isComplete: isComplete, retryAfter: report.retryAfter)
        {
            return answer
        }
        let facts = TransferError.Facts(
            host: host, limits: limits(of: call), hasHead: false, bytes: 0, total: nil, proxyStatus: nil)
        let failure = TransferError(report.ending, facts)
        throw failure?.error ?? .notHTTP(host, detail: "the transfer ended without a final response")
    }

    private func settings(
        _ call: HTTPClientRequest, to address: WebAddress, headers: RequestHeaders, pinned host: PinnedHost
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
        if let part = call.part { settings.headers.append("Range: bytes=\(part.lowerBound)-\(part.upperBound)") }
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

    /// The time limits of one request. The first byte may take until the deadline by default: some servers respond only
    /// after processing the request.
    private func limits(of call: HTTPClientRequest) -> DownloadTimeouts {
        var limits = timeouts
        let left = max(.zero, ContinuousClock.now.duration(to: call.deadline))
        limits.firstByte = call.responseSecondsMax.map { min(left, .seconds(clamping: $0)) } ?? left
        return limits
    }
}

extension HTTPClientRequest.Method {
    var transferred: TransferMethod {
        switch self {
        case .get: .get
        case .post: .post
        case .delete: .delete
        case .head: .head
        case .put: .put
        }
    }
}

/// One request to another service, and the limits for its response.
package struct HTTPClientRequest: Sendable {
    package enum Method: Sendable, Hashable {
        case get
        case post
        case delete
        case head
        case put
    }

    package var method: Method
    /// An http or https URL; user info becomes Basic authentication unless `headers` has an `Authorization`.
    package var url: String
    package var headers: [(name: String, value: String)]
    /// The first and the last byte of the part that a GET requests; nil requests the whole.
    package var part: ClosedRange<Int>?
    /// The body of a POST, at most `bodyBytesMax` bytes.
    package var body: [UInt8]
    package var bodyBytesMax = Limits.httpRequestBodyBytesMax
    /// The part of a file that a PUT sends; its descriptor must stay open until the request has ended.
    package var upload: TransferUpload?
    /// Signs the request; only the caller's headers are then sent.
    package var signature: TransferSignature?
    /// The most bytes of the response body that are kept; a longer body is truncated.
    package var responseBytesMax: Int
    /// Whether the server may receive the request twice: libcurl sends it again when a reused connection turns out to
    /// be closed. False opens a new connection instead.
    package var isRepeatable = true
    /// Seconds until the first byte of the response once the request is sent; nil uses the deadline.
    package var responseSecondsMax: Double?
    /// When the request must have ended, including name resolution.
    package var deadline: ContinuousClock.Instant

    package init(
        _ method: Method, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        responseBytesMax: Int, deadline: ContinuousClock.Instant
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.responseBytesMax = responseBytesMax
        self.deadline = deadline
    }
}

/// A response of any status, including errors and redirects.
package struct HTTPClientResponse: Sendable, Hashable {
    /// Status and header fields.
    package let head: ResponseHead
    /// The body as sent, up to `responseBytesMax` bytes.
    package let body: [UInt8]
    /// Whether `body` is complete: neither truncated nor interrupted.
    package let isWhole: Bool
    /// The `Retry-After` of the response, from seconds or a date; nil without one.
    package let retryAfter: Duration?

    package var status: Int { head.status }
}

/// Download errors, reworded for single requests.
extension AttachPrepError {
    static func requestBodyTooLarge(_ bytes: Int, limit: Int) -> AttachPrepError {
        AttachPrepError(
            .requestTooLarge,
            "The request body is \(bytes.grouped) bytes long, over the limit of "
                + "\(limit.grouped); send a shorter one.")
    }

    /// The same error with a message about a request instead of a download.
    func ofCall(to host: String) -> AttachPrepError {
        let sentence: String? =
            switch code {
            case .sourceAddressBlocked:
                "\(host) resolves to a blocked address; use a public address, or have the service's operator allow "
                    + "its network."
            case .deadlineExceeded: "\(host) did not answer in the time given; try again later or check the server."
            case .cancelled: "The request to \(host) was cancelled before a response was received."
            case .internal: "The request to \(host) failed inside attachprep; try again."
            default: nil
            }
        guard let sentence else { return self }
        return AttachPrepError(code, sentence, detail: detail ?? message, isRetryable: isRetryable)
    }
}

extension Limits {
    /// Bytes of an outgoing request body: a webhook is a manifest of some 3 KB (Standard Webhooks: 20 KB).
    package static let httpRequestBodyBytesMax = 65_536
    /// Idle connections kept for reuse: a busy service has one or a few receivers.
    static let httpIdleConnectionsMax = 32
}
