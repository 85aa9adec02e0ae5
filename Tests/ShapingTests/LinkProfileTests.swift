import RichPush
import Testing

@testable import Shaping

@Suite struct LinkProfileTests {
    @Test(arguments: NetworkProfile.allCases)
    func `A network has the numbers of the one table`(network: NetworkProfile) throws {
        let profile = try #require(LinkProfile(network.rawValue))
        #expect(profile.bitsPerSecond == network.bitsPerSecond)
        #expect(profile.roundTripSeconds == network.roundTripSeconds)
    }

    @Test func `Kilobits and milliseconds make a network of one's own`() throws {
        let profile = try #require(LinkProfile("40000,20"))
        #expect(profile.bitsPerSecond == 40_000_000)
        #expect(profile.roundTripSeconds == 0.02)
        #expect(profile.uplinkBitsPerSecond == 10_000_000)
    }

    @Test(arguments: ["", "4g", "40000", "0,20", "-1,20", "40000,-1", "40000,20,1", "nan,20", "inf,1", "1e9,1", ","])
    func `What is no network is none`(text: String) {
        #expect(LinkProfile(text) == nil)
    }
}
