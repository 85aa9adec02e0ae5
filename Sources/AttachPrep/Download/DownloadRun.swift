internal import AttachPrepModel
internal import Curl
internal import FoundationEssentials
package import RichPush
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
    private let wait: SourceWait?
    private let waitSignal: WaitSignal
    private let range: ResourceRange?
    /// Requests that found no source while waiting for it.
    private var polls = 0
    /// Whether the file is complete, and the next request only asks whether the server has a newer version.
    private var isGrowthCheck = false
    /// The hash of the last version that was compared with the server's.
    private var comparedVersion: String?

    /// - Throws: `source.invalid_url`, `source.scheme_not_allowed` or `request.invalid`, before anything is sent.
    init(
        downloader: Downloader, request: DownloadRequest, descriptor: CInt, onPrefix: @escaping PrefixCheck
    ) throws(AttachPrepError) {
        self.downloader = downloader
        deadline = request.deadline
        headers = try RequestHeaders(request.headers)
        let waitSignal = WaitSignal(request.onWaiting)
        self.waitSignal = waitSignal
        self.onPrefix = { bytes, isComplete in
            waitSignal.set(false)
            return try await onPrefix(bytes, isComplete)
        }
        body = BodyFile(
            descriptor: descriptor, start: request.fileOffset, bytesMax: request.bytesMax, observer: request.observer)
        first = try WebAddress(request.url, httpsOnly: downloader.policy.httpsOnly)
        schedule = RetrySchedule(backOff: downloader.timeouts.backOff)
        hop = first
        validators = headers.hasConditions ? nil : request.validators
        wait = request.wait
        range = request.range
    }

    /// The conditional headers for this hop; nil when the download resumes a partial file.
    var condition: ConditionalRequest? {
        guard resumePoint == nil else { return nil }
        return ConditionalRequest(validators, for: hop, isFirst: redirects == 0)
    }

    mutating func run() async throws -> DownloadedFile {
        defer { waitSignal.set(false) }
        do {
            while try await !step() {}
            if body.isUndecided { try body.accept(await onPrefix(body.bytes, true)) }
        } catch is CancellationError {
            throw AttachPrepError.cancelled(hop.host)
        } catch is DownloadSlots.DeadlineReachedError {
            throw AttachPrepError.deadlineExceeded(hop.host)
        }
        return DownloadedFile(
            finalURL: hop.shown, address: hop, isWholeFile: head?.status != 206, declaredMIMEType: head?.mimeType,
            declaredCharset: head?.charset,
            bytes: body.bytes, sha256: body.sha256,
            generation: body.generation, timings: timings, httpVersion: httpVersion, attempts: attempts,
            freshness: freshness.limited(to: redirectsFreshUntil))
    }

    /// Runs one hop or attempt and acts on its result; true when the file is complete.
    private mutating func step() async throws -> Bool {
        guard isGrowthCheck else { return try await attempt() }
        let generation = body.generation
        do {
            return try await attempt()
        } catch {
            // Until a newer version is received, the file is complete, whatever happens to the check.
            guard body.generation == generation, !Task.isCancelled else { throw error }
            return true
        }
    }

    private mutating func attempt() async throws -> Bool {
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
        record(received, report, requestedAt)
        let facts = TransferError.Facts(
            host: hop.host, limits: downloader.timeouts, hasHead: received.head != nil, bytes: body.bytes,
            total: body.total,
            proxyStatus: report.proxyStatus)
        // The transfer was ended here.
        if body.isPrefixComplete, received.verdict?.hasContent == true, received.abortError == nil { return true }
        if SourceWait.isExpected(received.verdict), try await polled(after: report.retryAfter) { return false }
        let step = explained(DownloadDecision(after: report.ending, received, facts), received)
        return try await isGrowthCheck ? applyGrowthCheck(step, received) : apply(step, retryAfter: report.retryAfter)
    }

    private mutating func resolve() async throws -> [PinnedHost] {
        let started = ContinuousClock.now
        // Bounded: floating point.
        defer { timings.dns += started.duration(to: .now).milliseconds }
        let proxy = downloader.proxy
        var hosts: [PinnedHost] = []
        for port in proxy?.ports ?? [hop.port] {
            hosts.append(
                try await downloader.hostResolver.resolve(name: proxy?.host ?? hop.host, port, before: deadline))
        }
        return hosts
    }

    private mutating func record(_ received: DownloadExchange.Received, _ report: TransferReport, _ requestedAt: Date) {
        timings.add(report.timings)
        httpVersion = report.httpVersion ?? httpVersion
        opensConnection = report.ending != .completed
        guard let answer = received.head, let verdict = received.verdict else { return }
        let freshness = SourceFreshness(answer, requestedAt: requestedAt, by: hop)
        switch verdict {
        case .whole: (head, self.freshness) = (answer, freshness)
        case .unchanged where !isGrowthCheck:
            let isStored = !CacheDirectives(answer.values("cache-control")).has("no-store")
            self.freshness = validators.map { freshness.renewing($0, isStored: isStored) } ?? freshness
        case .redirect:
            redirectsFreshUntil = redirectsFreshUntil.flatMap { limit in freshness.freshUntil.map { min($0, limit) } }
        default: break
        }
    }

    private mutating func apply(_ step: DownloadDecision, retryAfter: Duration?) async throws -> Bool {
        switch step {
        case .finish: return try await !waitBeforeGrowthCheck()
        case .unchanged:
            throw UnchangedSourceError(freshness: freshness.limited(to: redirectsFreshUntil), timings: timings)
        case .fail(let error): throw error
        case .follow(let location): try follow(location)
        case .retry(let error):
            resumePoint =
                range == nil ? head.flatMap { ResumePoint(after: $0, bytes: body.bytes, total: body.total) } : nil
            try await pause(error, retryAfter: retryAfter)
        case .startOver(let error): try startOver(error)
        case .startOverUndecoded(let error):
            decodesContent = false
            try startOver(error)
        }
        return false
    }

    /// Replaces the error of a rejected request when the signed URL has expired.
    private func explained(_ step: DownloadDecision, _ received: DownloadExchange.Received) -> DownloadDecision {
        guard case .fail = step, received.abortError == nil, case .rejected(let status)? = received.verdict,
            [400, 401, 403].contains(status)
        else { return step }
        if let expiry = [hop, first].compactMap({ SignedURLExpiry.date(of: $0.text) }).min(), expiry <= .now {
            return .fail(.expiredURL(hop.host, status, at: expiry))
        }
        // A body had begun.
        return head == nil || status == 400 ? step : .fail(.rejectedAfterExpiry(hop.host, status))
    }

    /// Waits until the source is requested again, from its first URL; false when no time to wait is left.
    private mutating func polled(after retryAfter: Duration?) async throws -> Bool {
        let requests = polls + 1  // Bounded: each comes after a delay.
        guard !isGrowthCheck,
            let delay = wait?.delay(
                afterRequests: requests, chance: .random(in: 0..<1), retryAfter: retryAfter, now: .now)
        else { return false }
        polls = requests
        (hop, redirects, redirectsFreshUntil, resumePoint) = (first, 0, .distantFuture, nil)
        waitSignal.set(true)
        try await ContinuousClock().sleep(for: delay)
        return true
    }

    /// Waits before a complete file is compared with the server's version; false if it need not be.
    private mutating func waitBeforeGrowthCheck() async throws -> Bool {
        // A live playlist grows for as long as the stream lasts; each version is complete.
        guard !headers.hasConditions, !Playlist.begins(body.firstBytes), !body.isPrefix, let head,
            let delay = wait?.checkDelay(after: head, now: .now)
        else {
            return false
        }
        let version = body.sha256
        // Some servers send the same file again although the request was conditional.
        guard version != comparedVersion else { return false }
        comparedVersion = version
        try await ContinuousClock().sleep(for: delay)
        (isGrowthCheck, resumePoint) = (true, nil)
        // Not those of `freshness`: "no-store" forbids storing them, not comparing them within the same download.
        validators = SourceValidators(head, of: hop)
        return true
    }

    /// Acts on the response to a growth check. Without a newer version, the file is used as it is.
    private mutating func applyGrowthCheck(_ step: DownloadDecision, _ received: DownloadExchange.Received) async throws
        -> Bool
    {
        try Task.checkCancellation()
        (isGrowthCheck, validators) = (false, nil)
        guard received.verdict?.hasContent == true else { return true }
        guard case .fail = step, received.abortError == nil else { return try await apply(step, retryAfter: nil) }
        // The check ends with the wait; the rest of a newer version is fetched in the time of the request.
        return try await apply(.retry(.truncated(hop.host, bytes: body.bytes, total: body.total)), retryAfter: nil)
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
    /// When the next exchange must have ended: a growth check must not cost the time that the request needs.
    private var exchangeDeadline: ContinuousClock.Instant { isGrowthCheck ? wait?.end ?? deadline : deadline }

    /// Sends one request and receives its response, while `onPrefix` inspects the first bytes.
    ///
    /// - Throws: The error of `onPrefix`, which ends the transfer. A failed transfer is returned in the report.
    func exchange(with hosts: [PinnedHost]) async throws -> (DownloadExchange.Received, TransferReport) {
        let (prefixEvents, prefixReady) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let exchange = DownloadExchange(
            host: hop.host, body: body, addressPolicy: downloader.addressPolicy, traffic: downloader.traffic,
            resumePoint: resumePoint, range: range,
            condition: condition, decodesContent: decodesContent, deadline: exchangeDeadline, prefixReady: prefixReady)
        let settings = settings(for: hosts)
        let loop = downloader.loop
        let report = try await downloader.slots.run(until: exchangeDeadline) {
            try await withThrowingTaskGroup(of: TransferReport?.self) { group in
                group.addTask {
                    defer { prefixReady.finish() }
                    return await loop.perform(settings, observer: exchange)
                }
                group.addTask { [body, onPrefix] in
                    try await Self.answer(prefixEvents, about: body, onPrefix) { loop.wakeUp() }
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
        _ prefixEvents: AsyncStream<Void>, about body: BodyFile, _ onPrefix: PrefixCheck, answered: () -> Void
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
            stallBytesMin: timeouts.stallBytesMin, deadline: exchangeDeadline)
        let lines = headers.lines(
            isFirstOrigin: hop.origin == first.origin, authorization: first.basicAuthorization, resuming: resumePoint,
            range: range, condition: condition)
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
        // Bounded: floating point.
        connect += timings.connect
        // Bounded: likewise.
        tls += timings.tls
        // Bounded: likewise.
        firstByte += timings.firstByte
        // Bounded: likewise.
        transfer += timings.transfer
    }
}

extension Limits {
    /// curl's default is 30 to 50; more than five redirects of a media URL are a loop or an attack.
    package static let redirectsMax = 5
}
