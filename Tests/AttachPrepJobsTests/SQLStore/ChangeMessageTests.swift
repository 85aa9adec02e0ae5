import AttachPrepJobs
import MediaTypes
import Testing

@testable import SQLStore

@Suite struct ChangeMessageTests {
    @Test func `Changes arrive as they were sent, in messages that PostgreSQL takes`() {
        let changes = (0..<450).map { JobFeed.Change(job: .make(), state: JobState.allCases[$0 % 6]) }
        let messages = ChangeMessage.all(changes, from: 7)
        #expect(messages.count == 3 && messages.allSatisfy { $0.utf8.count < 8_000 })
        #expect(messages.flatMap { ChangeMessage.changes(in: $0, except: []) } == changes)
    }

    @Test func `A process skips its own messages`() {
        let message = ChangeMessage.all([.init(job: .make(), state: .queued)], from: 7)[0]
        #expect(ChangeMessage.changes(in: message, except: [7]).isEmpty)
    }

    @Test(arguments: ["", " ", "x", "7", "7 q", "7 zzz", "7 q01a1ffe0", "-", "7 \u{301}\u{301}"])
    func `Other texts contain no changes`(_ text: String) {
        #expect(ChangeMessage.changes(in: text, except: []).isEmpty)
    }
}
