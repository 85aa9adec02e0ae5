import Foundation
import MediaTypes
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

@Suite struct WebhookScheduleTests {
    private let schedule = WebhookSchedule()
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func outcome(_ status: Int, tries: Int = 1, retryAfter: Duration? = nil) -> WebhookDeliveryResult {
        let reply = WebhookResponse.answered(host: "h.example:443", status: status, retryAfter: retryAfter)
        return schedule.outcome(of: reply, tries: tries, at: now, chance: 0)
    }

    @Test func `Without jitter, delays are exactly those of the published schedule`() {
        let delays = (1...10).map { schedule.delay(afterTries: $0, retryAfter: nil, chance: 0) }
        #expect(delays == [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, nil])
    }

    @Test func `Jitter extends a delay by up to 10 % and never shortens it`() throws {
        for chance in [0, 0.25, 0.999] {
            let delay = try #require(schedule.delay(afterTries: 2, retryAfter: nil, chance: chance))
            #expect(delay == 300 * (1 + 0.1 * chance))
        }
    }

    @Test(arguments: [
        (1, 1, 5.0), (1, 60, 60), (1, 299, 299), (1, 300, 300), (1, 4_000, 300), (3, 60, 1_800), (9, 90_000, 86_400),
        (8, 90_000, 86_400),
    ])
    func `Retry-After extends a delay up to the next step of the schedule`(tries: Int, requested: Int, waited: Double) {
        #expect(schedule.delay(afterTries: tries, retryAfter: .seconds(requested), chance: 0) == waited)
    }

    @Test(arguments: [200, 201, 202, 204, 299])
    func `Every 2xx status is a delivery`(status: Int) {
        #expect(outcome(status) == .delivered(status: status))
        #expect(outcome(status, tries: 10) == .delivered(status: status))
    }

    @Test(arguments: [301, 302, 304, 307, 400, 401, 403, 404, 408, 429, 500, 502, 503, 504])
    func `Every other status is retried`(status: Int) {
        guard case .retry(let date, status, let error) = outcome(status) else {
            return #expect(Bool(false), "\(outcome(status))")
        }
        #expect(date == now.addingTimeInterval(5))
        #expect(error.contains("h.example:443 answered \(status)"))
        #expect(error.contains("redirect") == (300...399 ~= status))
    }

    @Test func `A receiver that answers 410 is not retried`() {
        guard case .givenUp(410, let error) = outcome(410) else { return #expect(Bool(false), "\(outcome(410))") }
        #expect(error.contains("no more webhooks"))
    }

    @Test func `A webhook is given up after the last attempt`() {
        guard case .retry = outcome(500, tries: 9) else { return #expect(Bool(false), "\(outcome(500, tries: 9))") }
        #expect(outcome(500, tries: 10) == .givenUp(status: 500, error: "h.example:443 answered 500."))
    }

    @Test func `An unreachable receiver is retried, with the error message and without its detail`() {
        let error = AttachPrepError(.downloadTimeout, "It was slow.", detail: "libcurl said")
        let outcome = schedule.outcome(of: .failed(error), tries: 2, at: now, chance: 0)
        #expect(outcome == .retry(at: now.addingTimeInterval(300), status: nil, error: "It was slow."))
    }
}

@Suite struct WebhookConcurrencyLimiterTests {
    private func webhooks(_ count: Int, to host: String) -> [Webhook] {
        (0..<count).map { _ in
            let notice = WebhookNotice(url: "https://\(host)/in", event: .attachmentPrepared, body: "{}")
            return Webhook(id: .make(), job: .make(), notice: notice, state: .pending, attempts: 0, createdAt: .now)
        }
    }

    @Test func `One host gets no more deliveries at a time than its limit`() {
        var limiter = WebhookConcurrencyLimiter(inFlightMax: 6, perHostMax: 2)
        limiter.add(webhooks(4, to: "dead.example") + webhooks(2, to: "quick.example"), until: .now + .seconds(60))
        let hosts = (0..<6).compactMap { _ in limiter.next()?.host }
        #expect(hosts == ["dead.example:443", "dead.example:443", "quick.example:443", "quick.example:443"])
        #expect(limiter.free == 2)
        limiter.finish("quick.example:443")
        #expect(limiter.next() == nil)
        limiter.finish("dead.example:443")
        #expect(limiter.next()?.host == "dead.example:443")
    }

    @Test func `All hosts together get no more deliveries at a time than the total limit`() {
        var limiter = WebhookConcurrencyLimiter(inFlightMax: 3, perHostMax: 2)
        limiter.add((0..<5).flatMap { webhooks(1, to: "h\($0).example") }, until: .now + .seconds(60))
        #expect((0..<5).compactMap { _ in limiter.next() }.count == 3)
        #expect(limiter.free == 0)
    }

    @Test func `A webhook that has waited until its lease expires is not sent`() {
        var limiter = WebhookConcurrencyLimiter(inFlightMax: 3, perHostMax: 2)
        let now = ContinuousClock.now
        limiter.add(webhooks(2, to: "h.example"), until: now + .seconds(40))
        #expect(limiter.next(at: now + .seconds(39)) != nil)
        #expect(limiter.next(at: now + .seconds(40)) == nil)
    }

    @Test func `The number of waiting webhooks is bounded`() {
        var limiter = WebhookConcurrencyLimiter(inFlightMax: 1, perHostMax: 1)
        for _ in 0..<10 { limiter.add(webhooks(100, to: "h.example"), until: .now + .seconds(60)) }
        var count = 0
        while let next = limiter.next() {
            count += 1
            limiter.finish(next.host)
        }
        #expect(count == 256)
    }
}
