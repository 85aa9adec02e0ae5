internal import AttachPrepModel
internal import Curl
internal import FoundationEssentials
package import MediaTypes
internal import SafeArithmetic

/// One download with all its redirects and attempts.
struct DownloadRun {
    typealias PrefixCheck = @Sendable (_ bytesSoFar: Int, _ isComplete: Bool) async throws -> DownloadVerdict

    let downloader: Downloader
    let deadline: ContinuousClock.Instant
    let headers: RequestHeaders
    let onPrefix: PrefixCheck
    let body: BodyFile
    /// The requested URL; headers and credentials are sent only to its origin.
    let first: WebAddress

    private(set) var hop: WebAddress
    private(set) var resumePoint: ResumePoint?
    private(set) var decodesContent = true
    /// Whether the next attempt opens a new connection: the previous one may have caused the failure.
    private(set) var opensConnection = false
    private let schedule: RetrySchedule
    private var redirects = 0
    private var cookies = RedirectCookies()
    private var attempts = 1
    private var timings = DownloadTimings()
    private var httpVersion: String?
    /// The head of the response that started the body in the file.
    private var head: ResponseHead?
    /// The freshness that `head` declares.
    private var freshness = SourceFreshness()
    /// The earliest expiry of the redirects so far; nil when one of them declares none.
    private var redirectsFreshUntil: Date? = .distantFuture
    /// Validators of the version fetched before; nil when no conditional request is to be sent.
    private var validators: SourceValidators?

    /// - Throws: `source.invalid_url`, `source.scheme_not_allowed` or `request.invalid`, before anything is sent.
    init(
        downloader: Downloader, request: DownloadRequest, descriptor: CInt, onPrefix: @escaping PrefixCheck
    ) throws(AttachPrepError) {
        self.downloader = downloader
        deadline = request.deadline
        headers = try RequestHeaders(request.headers)
        self.onPrefix = onPrefix
        body = BodyFile(descriptor: descriptor, bytesMax: request.bytesMax, observer: request.observer)
        first = try WebAddress(request.url, httpsOnly: downloader.policy.httpsOnly)
        schedule = RetrySchedule(backOff: downloader.timeouts.backOff)
        hop = first
        validators = headers.hasConditions ? nil : request.validators
    }

    /// The conditional headers for this hop; nil when the download resumes a partial file.
    var condition: ConditionalRequest? {
        guard resumePoint == nil else { return nil }
        return ConditionalRequest(validators, for: hop, isFirst: redirects == 0)
    }

    mutating func run() async throws -> DownloadedFile {
        do {
            while try await !step() {}
            if body.isUndecided { try body.accept(await onPrefix(body.bytes, true)) }
        } catch is CancellationError {
            throw AttachPrepError.cancelled(hop.host)
        } catch is DownloadSlots.DeadlineReachedError {
            throw AttachPrepError.deadlineExceeded(hop.host)
        }
        return DownloadedFile(
            finalURL: hop.shown, declaredMIMEType: head?.mimeType, bytes: body.bytes, sha256: body.sha256,
            generation: body.generation, timings: timings, httpVersion: httpVersion, attempts: attempts,
            freshness: freshness.limited(to: redirectsFreshUntil))
    }

    /// Runs one hop or attempt and acts on its result; true when the file is complete.
    private mutating func step() async throws -> Bool {
        guard ContinuousClock.now < deadline else { throw AttachPrepError.deadlineExceeded(hop.host) }
        let hosts: [PinnedHost]
        do {
            hosts = try await resolve()
        } catch let failure as TemporaryNameError {
            try await pause(failure.error, retryAfter: nil)
            return false
        }
        let requestedAt = Date.now
        let (received, report) = try await exchange(with: hosts)
        record(received, report: report, requestedAt: requestedAt)
        let facts = TransferError.Facts(
            host: hop.host, limits: downloader.timeouts, hasHead: received.head != nil, bytes: body.bytes,
            total: body.total, proxyStatus: report.proxyStatus, lastHeader: received.lastHeader)
        let step = explained(DownloadDecision(after: report.ending, received, facts), received: received)
        return try await apply(step, retryAfter: report.retryAfter)
    }

    private mutating func resolve() async throws -> [PinnedHost] {
        let started = ContinuousClock.now
        defer { timings.dns += started.duration(to: .now).milliseconds }
        let proxy = downloader.proxy
        var hosts: [PinnedHost] = []
        for port in proxy?.ports ?? [hop.port] {
            hosts.append(
                try await downloader.hostResolver.resolve(name: proxy?.host ?? hop.host, port, before: deadline))
        }
        return hosts
    }

    private mutating func record(_ received: DownloadExchange.Received, report: TransferReport, requestedAt: Date) {
        timings.add(report.timings)
        httpVersion = report.httpVersion ?? httpVersion
        opensConnection = report.ending != .completed
        guard let answer = received.head, let verdict = received.verdict else { return }
        let freshness = SourceFreshness(answer, requestedAt: requestedAt, by: hop)
        switch verdict {
        case .whole: (head, self.freshness) = (answer, freshness)
        case .unchanged:
            let isStored = !CacheDirectives(answer.values("cache-control")).has("no-store")
            self.freshness = validators.map { freshness.renewing($0, isStored: isStored) } ?? freshness
        case .redirect:
            cookies.store(answer, from: hop)
            redirectsFreshUntil = redirectsFreshUntil.flatMap { limit in freshness.freshUntil.map { min($0, limit) } }
        default: break
        }
    }

    private mutating func apply(_ step: DownloadDecision, retryAfter: Duration?) async throws -> Bool {
        switch step {
        case .finish: return true
        case .unchanged:
            throw UnchangedSourceError(freshness: freshness.limited(to: redirectsFreshUntil), timings: timings)
        case .fail(let error): throw error
        case .follow(let location): try follow(location)
        case .retry(let error):
            resumePoint = head.flatMap { ResumePoint(after: $0, bytes: body.bytes, total: body.total) }
            try await pause(error, retryAfter: retryAfter)
        case .startOver(let error): try startOver(error)
        case .startOverUndecoded(let error):
            decodesContent = false
            try startOver(error)
        }
        return false
    }

    /// Replaces the error of a rejected request when the signed URL has expired.
    private func explained(_ step: DownloadDecision, received: DownloadExchange.Received) -> DownloadDecision {
        guard case .fail = step, received.abortError == nil, case .rejected(let status)? = received.verdict,
            [400, 401, 403].contains(status)
        else { return step }
        if let expiry = [hop, first].compactMap({ SignedURLExpiry.date(of: $0.text) }).min(), expiry <= .now {
            return .fail(.expiredURL(hop.host, status: status, at: expiry))
        }
        // A body had begun.
        return head == nil || status == 400 ? step : .fail(.rejectedAfterExpiry(hop.host, status: status))
    }

    private mutating func follow(_ location: ForeignText) throws {
        redirects += 1
        guard redirects <= Limits.redirectsMax else { throw AttachPrepError.tooManyRedirects(hop.host) }
        hop = try hop.following(location.string)
    }

    private mutating func startOver(_ error: AttachPrepError) throws {
        guard attempts < schedule.attemptsMax else { throw error }
        attempts += 1
        resumePoint = nil
        validators = nil
    }

    private mutating func pause(_ error: AttachPrepError, retryAfter: Duration?) async throws {
        let delay = schedule.delay(
            afterTries: attempts, chance: .random(in: 0..<1), retryAfter: retryAfter,
            timeLeft: ContinuousClock.now.duration(to: deadline))
        guard let delay else { throw error }
        attempts += 1
        try await ContinuousClock().sleep(for: delay)
    }
}

extension DownloadRun {
    /// Sends one request and receives its response, while `onPrefix` inspects the first bytes.
    ///
    /// - Throws: The error of `onPrefix`, which ends the transfer. A failed transfer is returned in the report.
    func exchange(with hosts: [PinnedHost]) async throws -> (DownloadExchange.Received, TransferReport) {
        let (prefixEvents, prefixReady) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let exchange = DownloadExchange(
            host: hop.host, body: body, addressPolicy: downloader.addressPolicy, traffic: downloader.traffic,
            resumePoint: resumePoint, condition: condition, decodesContent: decodesContent, deadline: deadline,
            prefixReady: prefixReady)
        let settings = settings(for: hosts)
        let loop = downloader.loop
        let report = try await downloader.slots.run(until: deadline) {
            try await withThrowingTaskGroup(of: TransferReport?.self) { group in
                group.addTask {
                    defer { prefixReady.finish() }
                    return await loop.perform(settings, observer: exchange)
                }
                group.addTask { [body, onPrefix] in
                    try await Self.answer(prefixEvents, about: body, onPrefix: onPrefix) { loop.wakeUp() }
                    return nil
                }
                // Waits for a running `onPrefix`, so that no attempt starts while the caller still reads the previous
                // one. An error from `onPrefix` ends the transfer and takes precedence over the transfer's own.
                var report = TransferReport(.cancelled)
                while let result = try await group.next() { report = result ?? report }
                return report
            }
        }
        return (exchange.received, report)
    }

    private static func answer(
        _ prefixEvents: AsyncStream<Void>, about body: BodyFile, onPrefix: PrefixCheck, answered: () -> Void
    ) async throws {
        for await _ in prefixEvents {
            while let bytes = body.takePendingCheck() {
                try body.accept(await onPrefix(bytes, false))
                answered()
            }
        }
    }

    private func settings(for hosts: [PinnedHost]) -> TransferSettings {
        let timeouts = downloader.timeouts
        let limits = TransferLimits(
            connect: timeouts.connect, firstByte: timeouts.firstByte, stall: timeouts.stall,
            stallBytesMin: timeouts.stallBytesMin, deadline: deadline)
        let lines = headers.lines(
            isFirstOrigin: hop.origin == first.origin, authorization: first.basicAuthorization,
            cookie: { cookies.header(for: hop, callers: $0) }, resuming: resumePoint, condition: condition)
        var settings = TransferSettings(url: hop.text, headers: lines, limits: limits)
        settings.pins = hosts.filter { IPAddress($0.host) == nil }.map(\.pin)
        settings.proxy = downloader.proxy?.text
        settings.certificateAuthorityFile = downloader.policy.certificateAuthorityFile
        settings.opensConnection = opensConnection
        settings.assumesHTTP2 = downloader.policy.assumesHTTP2
        return settings
    }
}

extension DownloadTimings {
    mutating func add(_ timings: TransferTimings) {
        connect += timings.connect
        tls += timings.tls
        firstByte += timings.firstByte
        transfer += timings.transfer
    }
}

extension Limits {
    /// curl's default is 30 to 50; more than five redirects of a media URL are a loop or an attack.
    package static let redirectsMax = 5
}
