import Glibc
import Linux
import MediaEngine
import RichPush

/// One call: sent, waited for with an eye on the child's memory, and its answer held against what can be.
struct MediaExchange {
    let job: MediaJob
    let child: RunningChild
    /// What a render had written when it was last heard of.
    private(set) var written: RenderedMedia?
    private var messages = 0

    init(_ job: MediaJob, _ child: RunningChild) {
        self.job = job
        self.child = child
    }

    /// A decoder that touches a gigabyte a second gets eleven megabytes further between two looks, which take 2 µs.
    private static let watchInterval = Duration.milliseconds(10)

    /// - Throws: `ChildFault` when the child must go, else the error it answered with.
    mutating func run() throws -> MediaAnswer {
        try reaching { try child.send(job) }
        while true {
            try waitForMessage()
            guard let content = try child.receive() else { continue }
            try count()
            switch try AnswerCheck(job: job).checked(content) {
            case .ready: throw ChildFault.nonsense("was ready twice")
            case .progress(let media): written = media
            case .answer(let answer): return answer
            case .failure(let error): throw error
            }
        }
    }

    private func waitForMessage() throws {
        while true {
            let now = ContinuousClock.now
            guard now < job.deadline else { throw ChildFault.late }
            // Bounded: ten milliseconds.
            let next = min(job.deadline, now + Self.watchInterval)
            if try reaching({ try child.waitUntilReadable(deadline: next) }) { return }
            if let bytes = child.usage.residentBytes, bytes > Limits.childMemoryBytesMax {
                throw ChildFault.overMemory(bytes)
            }
        }
    }

    private func reaching<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SystemError {
            // One that has ended already is past reading.
            if error.code == EPIPE || error.code == ECONNRESET { throw ChildFault.closed }
            // One that has answered has taken what it answered, so there is room.
            if error.code == EAGAIN { throw ChildFault.nonsense("takes no calls") }
            throw ChildFault.unreachable(error.description)
        }
    }

    /// One that never stops talking would keep us listening until its deadline.
    private mutating func count() throws {
        messages += 1
        guard messages <= Limits.childMessagesMax else { throw ChildFault.nonsense("\(messages) messages") }
    }
}
