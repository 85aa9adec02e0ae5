import Linux
import MediaEngine
import RichPush
import Synchronization

/// A permanent thread with one child behind it, which it starts, talks to, kills at a deadline and replaces.
///
/// The thread is permanent because the kernel kills a child when the thread that spawned it ends.
final class MediaWorker: Sendable {
    private enum Item {
        case job(MediaJob, CheckedContinuation<MediaAnswer, any Error>)
        case warmUp
        case stop(CheckedContinuation<Void, Never>?)
    }

    private let items: BlockingQueue<Item>
    /// Set before the order to stop stands in line: what ends meanwhile is not replaced.
    private let isStopping = Flag()
    private let warmth = Flag()

    /// Starts the thread; the child follows with the first call or with `warmUp`.
    init(_ program: MediaProgram, number: Int, counter: ReplacementCounter) throws {
        let items = try BlockingQueue<Item>()
        self.items = items
        try PermanentThread.start(name: "media-\(number)") { [isStopping, warmth] in
            let link = MediaChildLink(program, counter: counter)
            Self.run(items: items, link: link, isStopping: isStopping, isWarm: warmth)
        }
    }

    /// Whether its child was ready to go on after the last call.
    var isWarm: Bool { warmth.isUp }

    /// Starts the child, so that its libraries load while something else goes on.
    func warmUp() {
        items.push(.warmUp)
    }

    /// Ends the child and the thread once the call under way is done.
    func stop() async {
        isStopping.set(true)
        await withCheckedContinuation { items.push(.stop($0)) }
    }

    /// As above, without waiting for it.
    func abandon() {
        isStopping.set(true)
        items.push(.stop(nil))
    }

    /// Does one call in the child; the pool sees to it that a worker has one at a time.
    func perform(_ job: MediaJob) async throws -> MediaAnswer {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                items.push(.job(job, continuation))
            }
        } onCancel: {
            job.cancel()
        }
    }

    private static func run(items: BlockingQueue<Item>, link: MediaChildLink, isStopping: Flag, isWarm: Flag) {
        while true {
            guard let item = items.pop(unlessReadable: link.descriptors) else {
                link.attend()
                continue
            }
            switch item {
            case .job(let job, let continuation):
                let result = Result { try link.perform(job) }
                isWarm.set(link.isWarm)
                continuation.resume(with: result)
                if !isStopping.isUp { link.prepareNext() }
            case .warmUp: link.warmUp()
            case .stop(let continuation):
                link.stop()
                continuation?.resume()
                return
            }
        }
    }
}

/// Something that is so or not, said by one thread to others.
private final class Flag: Sendable {
    private let state = Atomic(false)

    var isUp: Bool { state.load(ordering: .relaxed) }

    func set(_ isUp: Bool) {
        state.store(isUp, ordering: .relaxed)
    }
}
