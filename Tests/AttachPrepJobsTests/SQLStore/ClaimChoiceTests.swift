import AttachPrep
import MediaTypes
import Testing

@testable import SQLStore

/// Which due jobs a claim takes, as a table.
@Suite struct ClaimChoiceTests {
    private struct Case: CustomTestStringConvertible {
        var testDescription: String
        /// Candidates as `lane:id/owner/host/key`.
        var candidates: [String]
        var count = 10
        var hostLimit = 2
        var ownerLimit = Int.max
        var runningHosts: [String: Int] = [:]
        var runningOwners: [String: Int] = [:]
        var runningKeys: Set<String> = []
        var chosen: [String]
        var parked: [ParkingReason: [String]] = [:]
    }

    private static let cases = [
        Case(testDescription: "all that fit", candidates: ["n:1/a/x/1", "n:2/a/y/2"], chosen: ["1", "2"]),
        Case(
            testDescription: "as many as are wanted", candidates: ["n:1/a/x/1", "n:2/a/y/2"], count: 1, chosen: ["1"]),
        Case(
            testDescription: "a host up to its limit",
            candidates: ["n:1/a/x/1", "n:2/a/x/2", "n:3/a/x/3", "n:4/a/y/4"], chosen: ["1", "2", "4"],
            parked: [.host: ["3"]]),
        Case(
            testDescription: "a host with running jobs", candidates: ["n:1/a/x/1", "n:2/a/x/2"],
            runningHosts: ["x": 1], chosen: ["1"], parked: [.host: ["2"]]),
        Case(
            testDescription: "one job per work key", candidates: ["n:1/a/x/k", "n:2/a/y/k"], chosen: ["1"],
            parked: [.key: ["2"]]),
        Case(
            testDescription: "a work key that runs", candidates: ["n:1/a/x/k"], runningKeys: ["k"], chosen: [],
            parked: [.key: ["1"]]),
        Case(
            testDescription: "a caller up to its limit",
            candidates: ["n:1/a/x/1", "n:2/a/y/2", "n:3/b/z/3"], ownerLimit: 1, chosen: ["1", "3"],
            parked: [.owner: ["2"]]),
        Case(
            testDescription: "the work key before the host", candidates: ["n:1/a/x/k"], runningHosts: ["x": 2],
            runningKeys: ["k"], chosen: [], parked: [.key: ["1"]]),
        Case(
            testDescription: "lanes in the order of the turn",
            candidates: ["b:1/a/x/1", "n:2/a/y/2", "h:3/a/z/3"], chosen: ["3", "2", "1"]),
        Case(testDescription: "nothing is due", candidates: [], chosen: []),
    ]

    @Test(arguments: cases)
    private func `A claim takes`(_ one: Case) {
        var lanes: [JobPriority: ArraySlice<ClaimCandidate>] = [:]
        for text in one.candidates {
            let (lane, candidate) = Self.candidate(text)
            lanes[lane, default: []].append(candidate)
        }
        var choice = ClaimChoice(
            hostLimit: one.hostLimit, ownerLimit: one.ownerLimit, runningHosts: one.runningHosts,
            runningOwners: one.runningOwners, runningKeys: one.runningKeys)
        choice.choose(one.count, from: &lanes, turn: { [.high, .normal, .bulk] })
        #expect(choice.chosen.map(\.id) == one.chosen)
        #expect(choice.parked == one.parked)
    }

    private static func candidate(_ text: String) -> (JobPriority, ClaimCandidate) {
        let lane: JobPriority =
            switch text.first {
            case "h": .high
            case "b": .bulk
            default: .normal
            }
        let parts = text.dropFirst(2).split(separator: "/").map(String.init)
        return (lane, ClaimCandidate(id: parts[0], place: 1, owner: parts[1], host: parts[2], key: parts[3]))
    }
}
