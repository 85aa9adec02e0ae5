import AttachPrepJobs
import Testing

@testable import AttachPrepService

struct EventLogTests {
    private let changes = (0..<4).map { _ in JobFeed.Change(job: .make(), state: .queued) }

    /// A log that has known all changes for a minute.
    private func log(_ changes: [JobFeed.Change]) -> EventLog {
        let log = EventLog(completeSince: .now - .seconds(60))
        for change in changes { log.record(change) }
        return log
    }

    @Test func `A listener that goes on with another machine misses no change`() {
        // It has seen two changes; the other machine learned of a third one before.
        let seen = log(Array(changes[0...1])).listen(after: nil).id
        let beginning = log([changes[2], changes[0], changes[1], changes[3]]).listen(after: seen)
        #expect(!beginning.isIncomplete)
        #expect(Set(beginning.missed.map(\.change)) == Set(changes))
    }

    @Test func `A listener is asked to load everything again when a machine may not know of all changes`() {
        let seen = log(changes).listen(after: nil).id
        #expect(log(Array(changes[0...2])).listen(after: seen).isIncomplete)
        let young = EventLog()
        for change in changes { young.record(change) }
        #expect(young.listen(after: seen).isIncomplete)
    }

    @Test func `A log that has missed changes ends its streams, and asks to load everything again`() async {
        let log = log(changes)
        let beginning = log.listen(after: nil)
        log.restart()
        for await event in beginning.live { Issue.record("\(event)") }
        #expect(log.listen(after: beginning.id).isIncomplete)
        log.record(changes[0])
        #expect(log.listen(after: log.listen(after: nil).id).missed.isEmpty)
    }
}
