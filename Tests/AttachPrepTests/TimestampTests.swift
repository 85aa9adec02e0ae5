import AttachPrep
import Foundation
import Testing

struct TimestampTests {
    @Test(arguments: [
        ("2026-11-21T20:51:02Z", 1_795_294_262.0), ("2026-11-21T20:51:02.25Z", 1_795_294_262.25),
        ("2026-11-21t21:51:02+01:00", 1_795_294_262), ("2026-11-21T20:51:59.9999z", 1_795_294_319.9999),
        ("2026-11-20T22:08:02-22:43", 1_795_294_262), ("2016-12-31T23:59:60Z", 1_483_228_800),
    ])
    func `a time is read with any offset`(text: String, seconds: Double) throws {
        let date = try #require(Timestamp.date(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.001)
    }

    @Test(arguments: [
        "2026-11-21T12:99:00Z", "2026-02-31T12:00:00Z", "2026-13-01T12:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T12:00:75Z", "2026-11-21T12:00:00", "2026-11-21", "2026-11-21T12:00:00+24:00", "", "Z", "now",
    ])
    func `a time that does not exist, or is written otherwise, is none`(text: String) {
        #expect(Timestamp.date(text) == nil)
    }
}
