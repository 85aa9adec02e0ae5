import Testing

@testable import Shaping

@Suite struct ByteRangeTests {
    @Test(arguments: [
        (nil, ByteRange.all), ("bytes=0-0", .part(0..<1)), ("bytes=5-9", .part(5..<10)), ("bytes=95-", .part(95..<100)),
        ("bytes=-3", .part(97..<100)), ("bytes=-300", .part(0..<100)), ("bytes=90-300", .part(90..<100)),
        ("bytes=100-", .none), ("bytes=-0", .none), ("bytes=99999999999999999999-", .none),
        ("bytes=9-5", .all), ("bytes=-", .all), ("bytes=1-2,4-5", .all), ("lines=1-2", .all), ("bytes=a-b", .all),
    ])
    func `A range is read as RFC 9110 says`(field: String?, range: ByteRange) {
        #expect(ByteRange(field, of: 100) == range)
    }

    @Test func `Nothing has no part`() {
        #expect(ByteRange("bytes=0-", of: 0) == .none)
        #expect(ByteRange("bytes=-5", of: 0) == .none)
    }
}
