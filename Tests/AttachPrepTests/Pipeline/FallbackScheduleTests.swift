import AttachPrepModel
import RichPush
import Testing

@testable import AttachPrep

/// How the sources of a request share its time.
@Suite struct FallbackScheduleTests {
    /// Seconds left, sources after this one, seconds in which this one must be downloaded.
    private static let shares: [(Double, Int, Double)] = [
        (30, 0, 30), (30, 1, 25), (30, 2, 20), (30, 8, 30.0 / 9), (10, 1, 5), (10, 2, 10.0 / 3), (6, 1, 3), (1, 1, 0.5),
        (900, 8, 860), (0, 1, 0), (-3, 1, -1.5),
    ]

    @Test(arguments: shares)
    func `A source leaves up to five seconds to each later one, and at least an equal share`(
        left: Double, later: Int, share: Double
    ) {
        let found = FallbackSchedule.share(of: .seconds(left), later: later) / .seconds(1)
        #expect(abs(found - share) < 0.000_001, "\(found)")
    }

    @Test(arguments: [(0.0, 10.0), (4, 6), (10, 0), (12, 0)])
    func `The wait counts once for all sources`(passed: Double, left: Double) {
        let start = ContinuousClock.now
        let found = FallbackSchedule.waitSeconds(until: start + .seconds(10), now: start + .seconds(passed))
        #expect(abs(found - left) < 0.000_001, "\(found)")
    }

    @Test func `Errors of a source lead to the next one, those of the request and the machine do not`() {
        let leading = ErrorCode.allCases.filter(FallbackSchedule.allowsNextSource)
        #expect(
            Set(ErrorCode.allCases).subtracting(leading).map(\.rawValue).sorted() == [
                "cancelled", "deadline.not_after", "events.full", "job.worker_lost",
                "options.invalid_clipping_rect",
                "options.invalid_size", "options.invalid_time", "output.no_space", "output.not_writable",
                "payload.invalid", "payload.no_media", "payload.too_large", "publish.denied", "publish.not_found",
                "publish.unavailable", "queue.full", "queue.unavailable", "request.conflict", "request.invalid",
                "request.not_found", "request.rate_limited", "request.too_large", "request.unauthorized",
                "sandbox.unavailable",
            ])
    }

    @Test func `The error is that of the source, and may be retried when any may`() {
        let gone = AttachPrepError(.sourceNotFound, "It is gone.")
        let error = FallbackSchedule.error([gone, gone, AttachPrepError(.downloadTimeout, "It is late.")])
        #expect(error.code == .sourceNotFound && error.isRetryable)
        #expect(error.message == "It is gone. The 2 fallbacks failed as well.")
        #expect(FallbackSchedule.error([gone, gone]).message == "It is gone. The fallback failed as well.")
        #expect(FallbackSchedule.error([gone]) == gone)
    }

    @Test func `Headers go to fallbacks of the same origin, keys and repetitions do not`() {
        var request = AttachmentRequest(source: "https://nvr.example/clip.mp4")
        request.headers = ["Authorization": "Bearer x", "If-None-Match": "a"]
        request.fallbacks = [
            "https://nvr.example/snapshot.jpg", "https://other.example/a.jpg", "http://nvr.example/a.jpg",
            "https://nvr.example/clip.mp4", "https://other.example/a.jpg", "path.jpg",
        ]
        let alternatives = request.alternatives
        #expect(alternatives.map(\.source) == [request.source] + request.fallbacks.prefix(3) + ["path.jpg"])
        #expect(alternatives.map { $0.headers["Authorization"] } == ["Bearer x", "Bearer x", nil, nil, nil])
        #expect(alternatives.allSatisfy { $0.fallbacks.isEmpty } && alternatives[1].headers["If-None-Match"] == nil)
    }

    @Test func `Credentials of a fallback's own URL take precedence`() {
        var request = AttachmentRequest(source: "https://a:b@nvr.example/clip.mp4")
        request.fallbacks = ["https://nvr.example/1.jpg", "https://c:d@nvr.example/2.jpg"]
        #expect(request.alternatives.map { $0.headers["Authorization"] } == [nil, "Basic YTpi", nil])
    }
}
