import NIOCore
import Testing

@testable import AttachPrepService

/// Which connection is evicted for a new one (issue 19, item 9).
struct ConnectionAdmissionTests {
    private typealias Admission = ConnectionAdmission<Int>

    private static let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func ago(_ seconds: Int64) -> NIODeadline { now - .seconds(seconds) }

    private static func idle(_ seconds: Int64) -> ConnectionActivity { .idle(since: ago(seconds)) }

    /// Idle for less than a second.
    private static func recent(_ milliseconds: Int64) -> ConnectionActivity {
        .idle(since: now - .milliseconds(milliseconds))
    }

    private static func receiving(_ seconds: Int64) -> ConnectionActivity { .receiving(progress: ago(seconds)) }

    private static func unread(_ seconds: Int64) -> ConnectionActivity { .unread(since: ago(seconds)) }

    @Test(
        arguments: [
            ([idle(1), idle(5), idle(3)], 1), ([.answering, idle(1)], 1), ([receiving(50), idle(1)], 1),
            ([recent(50), recent(0)], nil), ([recent(200), recent(900), .answering], 1),
            ([recent(500), receiving(3)], 1),
            ([recent(500), unread(11)], 1), ([recent(500), receiving(1)], 0),
            ([receiving(3), receiving(9), .answering], 1), ([receiving(2), receiving(1)], nil), ([unread(9)], nil),
            ([unread(11), unread(30)], 1), ([unread(50), receiving(3)], 1), ([.answering, .answering], nil), ([], nil),
        ] as [([ConnectionActivity], Int?)])
    func `Idle connections are evicted first, then slow bodies, then clients that do not read`(
        activities: [ConnectionActivity], evicted: Int?
    ) {
        let open = activities.enumerated().map { Admission.Open(id: $0.offset, client: nil, activity: $0.element) }
        #expect(Admission.connectionToEvict(among: open, at: Self.now) == evicted)
    }

    private func admission(
        _ client: String?, all: Int, ofClient: Int = 0, isDraining: Bool = false, _ open: [Admission.Open] = []
    ) -> Admission {
        Admission(
            client, counts: (all, ofClient), limits: (10, 3), isDraining: isDraining, open: open, at: Self.now)
    }

    @Test func `A new connection is accepted, replaces another one, or is restricted`() {
        let own = Admission.Open(id: 1, client: "a", activity: Self.idle(1))
        let other = Admission.Open(id: 2, client: "b", activity: Self.idle(50))
        let busy = Admission.Open(id: 3, client: "a", activity: .answering)
        #expect(admission("a", all: 9, ofClient: 2, [own, other]) == .accepted)
        #expect(admission("a", all: 10, ofClient: 2, [own, other]) == .replaces(2))
        #expect(admission(nil, all: 10, [busy]) == .probesOnly)
        #expect(admission("a", all: 5, ofClient: 3, [own, other, busy]) == .replaces(1))
        #expect(admission("a", all: 5, ofClient: 3, [other, busy]) == .tooManyOfAddress)
        #expect(admission(nil, all: 9, ofClient: 50) == .accepted)
        #expect(admission("a", all: 0, isDraining: true) == .probesOnly)
    }

    @Test(arguments: [
        (0, 0, 0.0), (1_000, 5, 1.0), (100_000, 5, 5.0), (3_000, 60, 3.0),
    ])
    func `A slow drip of bytes does not count as progress`(bytes: Int, lastSecond: Int64, progress: Double) {
        var clock = ConnectionClock()
        clock.bodyBegan(at: Self.now)
        if bytes > 0 { clock.body(bytes, at: Self.now + .seconds(lastSecond)) }
        #expect(
            clock.bodyProgress(bytesPerSecond: 1_000) == Self.now + .milliseconds(Int64(progress * 1_000)))
    }
}
