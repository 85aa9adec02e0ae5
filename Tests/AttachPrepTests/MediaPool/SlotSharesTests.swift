import MediaEngine
import Testing

@testable import AttachPrep

/// How callers, hosts and priorities share the media slots, with calls that take made-up times.
struct SlotSharesTests {
    /// A schedule whose calls end after their time.
    private struct Simulation {
        private struct Call {
            var share: MediaShare
            var seconds: Double
            var arrivedAt: Double
        }

        private var schedule: SlotSchedule
        private var calls: [Int: Call] = [:]
        private var running: [(end: Double, call: Int, worker: Int)] = []
        private(set) var now = 0.0
        /// The calls in the order in which they began, with their waits.
        private(set) var begun: [(share: MediaShare, wait: Double)] = []
        private(set) var busyMax = 0

        init(slots: Int) { schedule = SlotSchedule(mediaSlots: slots) }

        mutating func enter(_ share: MediaShare, seconds: Double) {
            let number = calls.count + 1
            calls[number] = Call(share: share, seconds: seconds, arrivedAt: now)
            begin(schedule.enter(SlotSchedule.Waiter(number: number, isRender: true, share: share), at: now))
        }

        /// Lets time pass until the given time.
        mutating func run(until end: Double) {
            while let next = running.min(by: { $0.end < $1.end }), next.end <= end {
                now = next.end
                running.removeAll { $0.call == next.call }
                begin(schedule.release(worker: next.worker, isRender: true, at: now))
            }
            now = end
        }

        private mutating func begin(_ grants: [SlotSchedule.Grant]) {
            for grant in grants {
                guard let call = calls[grant.waiter] else { continue }
                begun.append((call.share, now - call.arrivedAt))
                running.append((now + call.seconds, grant.waiter, grant.worker))
            }
            busyMax = max(busyMax, running.count)
        }

        func waits(of share: MediaShare) -> [Double] { begun.filter { $0.share == share }.map(\.wait).sorted() }
    }

    private static let hostile = MediaShare(caller: "a", host: "one.example")

    @Test(arguments: [
        MediaShare(caller: "b", host: "one.example"), MediaShare(caller: "a", host: "other.example"),
        MediaShare(caller: "b", host: "other.example", priority: .bulk),
    ])
    func `40 long calls of one caller and host hardly delay another's short ones`(_ ordinary: MediaShare) {
        var simulation = Simulation(slots: 2)
        for _ in 0..<40 { simulation.enter(Self.hostile, seconds: 30) }
        for number in 1...100 {
            simulation.run(until: Double(number))
            simulation.enter(ordinary, seconds: 0.1)
        }
        simulation.run(until: 200)
        let waits = simulation.waits(of: ordinary)
        #expect(waits.count == 100 && waits[94] <= 0.2, "\(waits.suffix(10))")
        #expect(simulation.busyMax == 3)
    }

    @Test func `A caller with long calls gets no more than half of one slot that two want`() {
        var simulation = Simulation(slots: 1)
        let other = MediaShare(caller: "b", host: "one.example")
        for _ in 0..<100 { simulation.enter(Self.hostile, seconds: 3) }
        for _ in 0..<300 { simulation.enter(other, seconds: 1) }
        simulation.run(until: 120)
        let counts = (simulation.waits(of: Self.hostile).count, simulation.waits(of: other).count)
        #expect(counts.1 >= counts.0 * 2, "\(counts)")
    }

    @Test func `A caller alone uses all media slots, and no more`() {
        var simulation = Simulation(slots: 3)
        for _ in 0..<10 { simulation.enter(Self.hostile, seconds: 1) }
        #expect(simulation.busyMax == 3)
        simulation.run(until: 4)
        #expect(simulation.begun.count == 10)
    }

    @Test func `High priority goes first, and bulk still gets a turn`() {
        var simulation = Simulation(slots: 1)
        let (high, bulk) = (
            MediaShare(caller: "a", priority: .high), MediaShare(caller: "a", priority: .bulk)
        )
        for _ in 0..<50 { simulation.enter(bulk, seconds: 1) }
        for _ in 0..<50 { simulation.enter(high, seconds: 1) }
        simulation.run(until: 45)
        let order = simulation.begun.map(\.share.priority)
        #expect(order.prefix(20).count { $0 == .high } >= 18)
        #expect(1...4 ~= order.dropFirst().prefix(42).count { $0 == .bulk })
    }

    @Test func `Queries of one caller do not hold the last worker against another's render`() throws {
        var schedule = SlotSchedule(mediaSlots: 2)
        func waiter(_ number: Int, _ share: MediaShare, isRender: Bool) -> SlotSchedule.Waiter {
            SlotSchedule.Waiter(number: number, isRender: isRender, share: share)
        }
        let other = MediaShare(caller: "b")
        let first = try #require(schedule.enter(waiter(1, other, isRender: true), at: 0).first)
        _ = schedule.release(worker: first.worker, isRender: true, at: 1)
        for number in 2...3 {
            #expect(schedule.enter(waiter(number, Self.hostile, isRender: false), at: 1).count == 1)
        }
        #expect(schedule.enter(waiter(4, Self.hostile, isRender: false), at: 1).isEmpty)
        #expect(schedule.enter(waiter(5, other, isRender: true), at: 1).map(\.waiter) == [5])
    }
}
