import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

@Suite struct LaneStallTests {
    /// Of a lane that is looked at: the seconds at which another leader is to be elected.
    private func elections(_ looks: [(second: Int64, missedAfter: UInt64?)]) -> [Int64] {
        var stall = LaneStall()
        return looks.filter { stall.isDue(missedAfter: $0.missedAfter, at: $0.second * 1_000) }.map(\.second)
    }

    @Test func `A lane that misses nothing keeps its leader`() {
        #expect(elections((0...60).map { ($0, nil) }).isEmpty)
    }

    @Test func `A lane that goes on, late, keeps its leader`() {
        #expect(elections((0...60).map { ($0, UInt64($0 / 5)) }).isEmpty)
    }

    @Test func `A lane that stands still for ten seconds gets another leader, and one more if that was no help`() {
        #expect(elections((0...40).map { ($0, 76) }) == [10, 21, 32])
    }

    @Test func `A lane that has caught up in between is watched anew`() {
        #expect(elections([(0, 76), (9, nil), (11, 76), (20, 76), (21, 76)]) == [21])
    }
}
