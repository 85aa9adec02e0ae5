import AttachPrep
import MediaTypes

/// A due job that a claim may take.
struct ClaimCandidate: Sendable, Hashable {
    var id: String
    var place: Int64
    var owner: String
    var host: String
    var key: String
}

/// Why claims skip a due job for now: the value of `job.parked`.
enum ParkingReason: Int64, Sendable, Hashable, CaseIterable {
    /// Its host is paused, or has as many running jobs as are allowed.
    case host = 1
    /// A job with its work key runs, whose result it can use.
    case key = 2
    /// Its caller has as many running jobs as are allowed.
    case owner = 3

    /// The column of `job` that such jobs share.
    var column: String {
        switch self {
        case .host: "host"
        case .key: "key"
        case .owner: "owner"
        }
    }
}

/// Chooses which of the due jobs run, and which are parked because they cannot run for now.
struct ClaimChoice: Sendable, Hashable {
    let hostLimit: Int
    let ownerLimit: Int
    /// Host groups of which no job may run.
    private let pausedHosts: Set<String>
    /// Numbers of running jobs, among them the chosen ones.
    private var hosts: [String: Int]
    private var owners: [String: Int]
    private var keys: Set<String>
    private(set) var chosen: [ClaimCandidate] = []
    private(set) var parked: [ParkingReason: [String]] = [:]

    init(
        hostLimit: Int, ownerLimit: Int, pausedHosts: Set<String> = [], runningHosts hosts: [String: Int] = [:],
        runningOwners owners: [String: Int] = [:], runningKeys keys: Set<String> = []
    ) {
        self.pausedHosts = pausedHosts
        self.hostLimit = hostLimit
        self.ownerLimit = ownerLimit
        self.hosts = hosts
        self.owners = owners
        self.keys = keys
    }

    /// Takes candidates until `count` are chosen or all were examined.
    ///
    /// - Parameters:
    ///   - lanes: the first due jobs of each lane, in order; those that were examined are removed.
    ///   - turn: the order of the lanes for the next job.
    mutating func choose(
        _ count: Int, from lanes: inout [JobPriority: ArraySlice<ClaimCandidate>], turn: () -> [JobPriority]
    ) {
        while chosen.count < count, lanes.values.contains(where: { !$0.isEmpty }) {
            for lane in turn() where take(&lanes[lane, default: []]) { break }
        }
    }

    /// Takes the first job of a lane that can run, and parks those before it.
    private mutating func take(_ lane: inout ArraySlice<ClaimCandidate>) -> Bool {
        while let candidate = lane.popFirst() {
            guard let reason = obstacle(for: candidate) else {
                chosen.append(candidate)
                hosts[candidate.host, default: 0] += 1
                owners[candidate.owner, default: 0] += 1
                keys.insert(candidate.key)
                return true
            }
            parked[reason, default: []].append(candidate.id)
        }
        return false
    }

    private func obstacle(for candidate: ClaimCandidate) -> ParkingReason? {
        if pausedHosts.contains(candidate.host) { return .host }
        if keys.contains(candidate.key) { return .key }
        if owners[candidate.owner, default: 0] >= ownerLimit { return .owner }
        return hosts[candidate.host, default: 0] >= hostLimit ? .host : nil
    }
}
