import Testing

@testable import Shaping

/// A link's clock is passed in, so its times are exact.
@Suite struct LinkScheduleTests {
    @Test(arguments: [
        // Bits a second, bytes, nanoseconds until the last of them has left.
        (1_600_000.0, 1_000_000, 5_000_000_000),
        (12_000_000.0, 1_500_000, 1_000_000_000),
        (40_000_000.0, 10_000_000, 2_000_000_000),
        (100_000_000.0, 10_000_000, 800_000_000),
    ])
    func `Bytes leave at the link's rate, whatever pieces they come in`(rate: Double, bytes: Int, time: Int64) {
        for piece in [bytes, 65_536, 1_448, 333] {
            var schedule = LinkSchedule(bitsPerSecond: rate)
            var left = bytes
            var departure: Int64 = 0
            while left > 0 {
                departure = schedule.departure(bytes: min(piece, left), readyAt: 0)
                left -= piece
            }
            #expect(abs(departure - time) <= 1, "in pieces of \(piece)")
        }
    }

    @Test func `A link that was idle has saved nothing up`() {
        var schedule = LinkSchedule(bitsPerSecond: 8_000)
        #expect(schedule.departure(bytes: 1, readyAt: 0) == 1_000_000)
        #expect(schedule.departure(bytes: 1, readyAt: 5_000_000) == 6_000_000)
        #expect(schedule.departure(bytes: 1, readyAt: 5_000_000) == 7_000_000)
    }

    @Test func `What was ready long ago takes its turn behind what the link still carries`() {
        var schedule = LinkSchedule(bitsPerSecond: 8_000)
        _ = schedule.departure(bytes: 10, readyAt: 0)
        #expect(schedule.departure(bytes: 1, readyAt: 3) == 11_000_000)
    }

    @Test(arguments: [
        (1_600_000.0, 1_600), (100_000.0, 1_448), (40_000_000.0, 40_000), (100_000_000.0, 65_536),
    ])
    func `Bytes leave in small pieces`(rate: Double, bytes: Int) {
        #expect(LinkSchedule(bitsPerSecond: rate).quantumBytes == bytes)
    }
}
