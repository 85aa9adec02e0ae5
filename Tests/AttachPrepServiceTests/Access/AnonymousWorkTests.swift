import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

struct AnonymousWorkTests {
    private func fail(_ work: AnonymousWork, _ address: String, seconds: Double) {
        let bytes = Int(seconds * 50_000_000)
        _ = try? work.charging(address, bytes: bytes) { () throws -> Int in
            throw AttachPrepError(.requestInvalid, "It is invalid.")
        }
    }

    @Test func `An address is stopped when its invalid requests have used up the time, and others are not`() throws {
        let work = AnonymousWork(perSecond: 0.000_001)
        fail(work, "192.0.2.1", seconds: 0.5)
        try work.check("192.0.2.1")
        fail(work, "192.0.2.1", seconds: 0.6)
        #expect(throws: Problem.self) { try work.check("192.0.2.1") }
        // All addresses together have as much as one here, because of the burst.
        let other = AnonymousWork(perSecond: 1)
        fail(other, "192.0.2.1", seconds: 1.1)
        #expect(throws: Problem.self) { try other.check("192.0.2.1") }
        try other.check("192.0.2.2")
    }

    @Test func `All addresses together are limited as well`() throws {
        let work = AnonymousWork(perSecond: 1)
        for number in 0..<10 { fail(work, "192.0.2.\(number)", seconds: 0.9) }
        #expect(throws: Problem.self) { try work.check("192.0.2.99") }
    }

    @Test func `Valid requests are not charged, and 0 is no limit`() throws {
        let work = AnonymousWork(perSecond: 0.000_001)
        for _ in 0..<100 { _ = try work.charging("192.0.2.1", bytes: 50_000_000) { 1 } }
        try work.check("192.0.2.1")
        _ = try work.charging("192.0.2.1", bytes: 100_000_000, isValid: { _ in false }) { 1 }
        #expect(throws: Problem.self) { try work.check("192.0.2.1") }
        let unlimited = AnonymousWork(perSecond: 0)
        fail(unlimited, "192.0.2.1", seconds: 100)
        try unlimited.check("192.0.2.1")
    }
}
