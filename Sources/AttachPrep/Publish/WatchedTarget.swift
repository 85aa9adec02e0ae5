import RichPush
import Synchronization

/// A place to publish to, of which it is remembered how the last try went.
final class WatchedTarget: PublishTarget {
    private let target: any PublishTarget
    private let last = Mutex<PublishStanding?>(nil)

    init(_ target: any PublishTarget) {
        self.target = target
    }

    /// Nil before the first try has ended.
    var standing: PublishStanding? { last.withLock(\.self) }

    func bring(_ result: FinishedResult) async throws {
        try await noting { try await target.bring(result) }
    }

    func complete(_ result: FinishedResult) async throws {
        try await noting { try await target.complete(result) }
    }

    func probe() async throws {
        do {
            try await target.probe()
            note(nil)
        } catch let error as AttachPrepError {
            note(error)
            throw error
        }
    }

    func reserveSeconds(ofBudget budgetSeconds: Double) -> Double { target.reserveSeconds(ofBudget: budgetSeconds) }
    func url(of file: String, in result: String) -> String? { target.url(of: file, in: result) }
    func standing(_ id: String) async -> Manifest? { await target.standing(id) }
    var keepsFolders: Bool { target.keepsFolders }
    func shutdown() async { await target.shutdown() }

    private func noting(_ work: () async throws -> Void) async throws {
        do {
            try await work()
            note(nil)
        } catch let error as AttachPrepError {
            // A request that is out of time or called off says nothing about the place.
            if [.publishDenied, .publishNotFound, .publishUnavailable].contains(error.code) { note(error) }
            throw error
        }
    }

    private func note(_ fault: AttachPrepError?) {
        last.withLock { $0 = PublishStanding(date: .now, fault: fault) }
    }
}
