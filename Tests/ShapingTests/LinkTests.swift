import MediaTypes
import Testing

@testable import AttachPrepModel
@testable import Shaping

@Suite struct LinkProfileTests {
    @Test(arguments: NetworkProfile.allCases)
    func `A named network has the rates of NetworkProfile`(network: NetworkProfile) throws {
        let profile = try #require(LinkProfile(network.rawValue))
        #expect(profile.bitsPerSecond == network.bitsPerSecond)
        #expect(profile.roundTripSeconds == network.roundTripSeconds)
    }

    @Test func `A custom network is given in kbit/s and milliseconds`() throws {
        let profile = try #require(LinkProfile("40000,20"))
        #expect(profile.bitsPerSecond == 40_000_000)
        #expect(profile.roundTripSeconds == 0.02)
        #expect(profile.uplinkBitsPerSecond == 10_000_000)
    }

    @Test(arguments: ["", "4g", "40000", "0,20", "-1,20", "40000,-1", "40000,20,1", "nan,20", "inf,1", "1e9,1", ","])
    func `An invalid network is rejected`(text: String) {
        #expect(LinkProfile(text) == nil)
    }
}

/// The clock is passed in, so times are exact.
@Suite struct LinkScheduleTests {
    @Test(arguments: [
        // Bits per second, bytes, nanoseconds until the last byte has left.
        (1_600_000.0, 1_000_000, 5_000_000_000),
        (12_000_000.0, 1_500_000, 1_000_000_000),
        (40_000_000.0, 10_000_000, 2_000_000_000),
        (100_000_000.0, 10_000_000, 800_000_000),
    ])
    func `Bytes leave at the link's rate, whatever the size of the writes`(rate: Double, bytes: Int, time: Int64) {
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

    @Test func `Idle time does not accumulate capacity`() {
        var schedule = LinkSchedule(bitsPerSecond: 8_000)
        #expect(schedule.departure(bytes: 1, readyAt: 0) == 1_000_000)
        #expect(schedule.departure(bytes: 1, readyAt: 5_000_000) == 6_000_000)
        #expect(schedule.departure(bytes: 1, readyAt: 5_000_000) == 7_000_000)
    }

    @Test func `Data that was ready earlier is queued behind data in transit`() {
        var schedule = LinkSchedule(bitsPerSecond: 8_000)
        _ = schedule.departure(bytes: 10, readyAt: 0)
        #expect(schedule.departure(bytes: 1, readyAt: 3) == 11_000_000)
    }

    @Test(arguments: [
        (1_600_000.0, 1_600), (100_000.0, 1_448), (40_000_000.0, 40_000), (100_000_000.0, 65_536),
    ])
    func `The send quantum depends on the rate`(rate: Double, bytes: Int) {
        #expect(LinkSchedule(bitsPerSecond: rate).quantumBytes == bytes)
    }
}
