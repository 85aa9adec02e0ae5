import NIOCore
import Testing

@testable import AttachPrepService

/// Issue 19, item 9: who makes room.
struct ConnectionAdmissionTests {
    private typealias Admission = ConnectionAdmission<Int>

    private static let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func ago(_ seconds: Int64) -> NIODeadline { now - .seconds(seconds) }

    private static func idle(_ seconds: Int64) -> ConnectionActivity { .idle(since: ago(seconds)) }

    /// Idle for so many milliseconds.
    private static func young(_ milliseconds: Int64) -> ConnectionActivity {
        .idle(since: now - .milliseconds(milliseconds))
    }

    private static func receiving(_ seconds: Int64) -> ConnectionActivity { .receiving(progress: ago(seconds)) }

    private static func unread(_ seconds: Int64) -> ConnectionActivity { .unread(since: ago(seconds)) }

    @Test(
        arguments: [
            ([idle(1), idle(5), idle(3)], 1), ([.answering, idle(1)], 1), ([receiving(50), idle(1)], 1),
            ([young(50), young(0)], nil), ([young(200), young(900), .answering], 1), ([young(500), receiving(3)], 1),
            ([young(500), unread(11)], 1), ([young(500), receiving(1)], 0),
            ([receiving(3), receiving(9), .answering], 1), ([receiving(2), receiving(1)], nil), ([unread(9)], nil),
            ([unread(11), unread(30)], 1), ([unread(50), receiving(3)], 1), ([.answering, .answering], nil), ([], nil),
        ] as [([ConnectionActivity], Int?)])
    func `Idle connections go first, then slow bodies, then clients that do not read; those at work stay`(
        activities: [ConnectionActivity], victim: Int?
    ) {
        let open = activities.enumerated().map { Admission.Open(id: $0.offset, client: nil, activity: $0.element) }
        #expect(Admission.victim(among: open, at: Self.now) == victim)
    }

    private func admission(
        _ client: String?, all: Int, ofClient: Int = 0, isDraining: Bool = false, _ open: [Admission.Open] = []
    ) -> Admission {
        Admission(
            client, counts: (all, ofClient), limits: (10, 3), isDraining: isDraining, open: open, at: Self.now)
    }

    @Test func `What a new connection gets`() {
        let mine = Admission.Open(id: 1, client: "a", activity: Self.idle(1))
        let theirs = Admission.Open(id: 2, client: "b", activity: Self.idle(50))
        let busy = Admission.Open(id: 3, client: "a", activity: .answering)
        #expect(admission("a", all: 9, ofClient: 2, [mine, theirs]) == .accepted)
        #expect(admission("a", all: 10, ofClient: 2, [mine, theirs]) == .replaces(2))
        #expect(admission(nil, all: 10, [busy]) == .probesOnly)
        #expect(admission("a", all: 5, ofClient: 3, [mine, theirs, busy]) == .replaces(1))
        #expect(admission("a", all: 5, ofClient: 3, [theirs, busy]) == .tooManyOfAddress)
        #expect(admission(nil, all: 9, ofClient: 50) == .accepted)
        #expect(admission("a", all: 0, isDraining: true) == .probesOnly)
    }

    @Test(arguments: [
        (0, 0, 0.0), (1_000, 5, 1.0), (100_000, 5, 5.0), (3_000, 60, 3.0),
    ])
    func `A byte is good for a while: a drip is no progress`(bytes: Int, lastSecond: Int64, progress: Double) {
        var clock = ConnectionClock()
        clock.bodyBegan(at: Self.now)
        if bytes > 0 { clock.body(bytes, at: Self.now + .seconds(lastSecond)) }
        #expect(
            clock.bodyProgress(bytesPerSecond: 1_000) == Self.now + .milliseconds(Int64(progress * 1_000)))
    }
}
