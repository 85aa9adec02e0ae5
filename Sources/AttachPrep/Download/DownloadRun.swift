internal import Curl
internal import RichPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One download from its first hop to its last try.
struct DownloadRun {
    typealias PrefixQuestion = @Sendable (_ bytesSoFar: Int, _ isComplete: Bool) async throws -> DownloadVerdict

    let downloader: Downloader
    let deadline: ContinuousClock.Instant
    let headers: RequestHeaders
    let onPrefix: PrefixQuestion
    let body: BodyFile
    /// Where the request's secrets belong.
    let first: WebAddress

    private(set) var hop: WebAddress
    private(set) var resumePoint: ResumePoint?
    private(set) var decodesContent = true
    /// The last try's connection is not trusted with the next one: it may be the reason that there is a next one.
    private(set) var opensConnection = false
    private let schedule: RetrySchedule
    private var redirects = 0
    private var attempts = 1
    private var timings = DownloadTimings()
    private var httpVersion: String?
    /// The head that the body in the file began with.
    private var head: ResponseHead?
    /// What it says of how long it holds.
    private var freshness = SourceFreshness()
    /// Until when the redirects so far hold; nil when one of them does not say.
    private var redirectsHold: Date? = .distantFuture
    /// What was fetched before, while the server is to be asked about it.
    private var validators: SourceValidators?

    /// - Throws: what is wrong with the request, before anything is sent.
    init(
        downloader: Downloader, request: DownloadRequest, descriptor: CInt, onPrefix: @escaping PrefixQuestion
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

    /// What the hop is asked about; nothing when a part of the file is there already.
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
        } catch is DownloadSlots.DeadlineReached {
            throw AttachPrepError.deadlineExceeded(hop.host)
        }
        return DownloadedFile(
            finalURL: hop.shown, declaredMIMEType: head?.mimeType, bytes: body.bytes, sha256: body.sha256,
            generation: body.generation, timings: timings, httpVersion: httpVersion, attempts: attempts,
            freshness: freshness.limited(to: redirectsHold))
    }

    /// One hop or one try, and what follows from it; true when the file is whole.
    private mutating func step() async throws -> Bool {
        guard ContinuousClock.now < deadline else { throw AttachPrepError.deadlineExceeded(hop.host) }
        let hosts: [PinnedHost]
        do {
            hosts = try await look()
        } catch let failure as TemporaryNameFailure {
            try await pause(failure.error, retryAfter: nil)
            return false
        }
        let asked = Date.now
        let (outcome, report) = try await exchange(with: hosts)
        record(outcome, report, asked)
        let facts = TransferFailure.Facts(
            host: hop.host, limits: downloader.timeouts, hasHead: outcome.head != nil, bytes: body.bytes,
            total: body.total,
            proxyStatus: report.proxyStatus)
        return try await take(NextStep(after: report.ending, outcome, facts), retryAfter: report.retryAfter)
    }

    private mutating func look() async throws -> [PinnedHost] {
        let started = ContinuousClock.now
        // Bounded: a floating-point number.
        defer { timings.dns += started.duration(to: .now).milliseconds }
        let proxy = downloader.proxy
        var hosts: [PinnedHost] = []
        for port in proxy?.ports ?? [hop.port] {
            hosts.append(try await downloader.directory.look(up: proxy?.host ?? hop.host, port, before: deadline))
        }
        return hosts
    }

    private mutating func record(_ outcome: Exchange.Outcome, _ report: TransferReport, _ asked: Date) {
        timings.add(report.timings)
        httpVersion = report.httpVersion ?? httpVersion
        opensConnection = report.ending != .completed
        guard let answer = outcome.head, let verdict = outcome.verdict else { return }
        let freshness = SourceFreshness(answer, askedAt: asked, by: hop)
        switch verdict {
        case .whole: (head, self.freshness) = (answer, freshness)
        case .unchanged:
            let isStored = !CacheDirectives(answer.values("cache-control")).has("no-store")
            self.freshness = validators.map { freshness.renewing($0, isStored: isStored) } ?? freshness
        case .redirect: redirectsHold = redirectsHold.flatMap { limit in freshness.freshUntil.map { min($0, limit) } }
        default: break
        }
    }

    private mutating func take(_ step: NextStep, retryAfter: Duration?) async throws -> Bool {
        switch step {
        case .finish: return true
        case .keep: throw UnchangedSource(freshness: freshness.limited(to: redirectsHold), timings: timings)
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

    private mutating func follow(_ location: String) throws {
        redirects += 1
        guard redirects <= Limits.redirectsMax else { throw AttachPrepError.tooManyRedirects(hop.host) }
        hop = try hop.following(location)
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
