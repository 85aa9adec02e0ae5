import Linux
import MediaEngine
import RichPush

/// The parent's hold on one child: starts it, has it work, ends it when it fails, and sees to its successor. Stays on
/// its thread.
final class MediaChildLink {
    private let program: MediaProgram
    private let counter: ReplacementCounter
    private var current: RunningChild?
    /// Loads its libraries while the current one still works.
    private var successor: RunningChild?
    /// Whether a child of this executable ever came as far as to be ready.
    private var hasWorked = false

    init(_ program: MediaProgram, counter: ReplacementCounter) {
        self.program = program
        self.counter = counter
    }

    /// Where something happens that has to be attended to.
    var descriptors: [CInt] { [current?.descriptor, successor?.descriptor].compactMap(\.self) }

    /// Whether a call could begin at once.
    var isWarm: Bool { current?.isReady ?? false }

    /// Starts the child without waiting for it; a failure is met again, and told, by the first call.
    func warmUp() {
        if current == nil { current = try? start() }
    }

    /// Does one call; a child that does not answer in time is ended.
    func perform(_ job: MediaJob) throws -> MediaAnswer {
        defer { job.end() }
        attend()
        do {
            return try perform(job, by: try current ?? startForCall())
        } catch let stillbirth as Stillbirth {
            // One that others of its kind did not share: worth a second child.
            guard hasWorked else { throw stillbirth.error }
            do {
                return try perform(job, by: try startForCall())
            } catch let again as Stillbirth {
                throw again.error
            }
        }
    }

    /// After a call, when its caller has been told: the next child begins to load before it is wanted.
    func prepareNext() {
        guard let child = current else {
            if hasWorked { warmUp() }
            return
        }
        child.rest()
        switch ChildRecycling(calls: child.calls, age: child.age, residentBytes: child.usage.residentBytes) {
        case .none: break
        case .inTurn: if successor == nil { successor = try? start() }
        case .atOnce:
            current = successor ?? (try? start())
            successor = nil
            counter.countRecycled()
            _ = child.end()
        }
    }

    /// Looks after children that said or ended something while no call was under way.
    func attend() {
        if let child = current, child.isReadable, !greet(child) {
            current = nil
            counter.countFailed()
            // A child that worked is replaced at once; one that never did would only fail again.
            if child.isReady { warmUp() }
        }
        guard let child = successor, child.isReadable else { return }
        successor = nil
        guard greet(child) else { return }
        if let former = current {
            counter.countRecycled()
            _ = former.end()
        }
        current = child
    }

    /// Ends the children.
    func stop() {
        _ = current?.end()
        _ = successor?.end()
        (current, successor) = (nil, nil)
    }

    /// Hears a child's first word; one that ended, or says anything else unasked, is buried.
    private func greet(_ child: RunningChild) -> Bool {
        if let isFirstWord = try? child.receive() == nil, isFirstWord {
            hasWorked = true
            return true
        }
        _ = child.end()
        return false
    }

    // MARK: One call

    /// A child ended while it was loading: no file had a part in it.
    private struct Stillbirth: Error {
        let error: AttachPrepError
    }

    private func perform(_ job: MediaJob, by child: RunningChild) throws -> MediaAnswer {
        current = child
        guard job.begin(on: child.process) else { throw AttachPrepError.cancelled }
        var exchange = MediaExchange(job, child)
        do {
            defer { hasWorked = hasWorked || child.isReady }
            return try exchange.run()
        } catch let fault as ChildFault {
            let ending = bury(child, fault)
            if job.isCancelled { throw AttachPrepError.cancelled }
            // What a render had written before its deadline stands.
            if fault == .late, let written = exchange.written { return .rendered(written) }
            let error = ChildVerdict.error(fault, ending, isReady: child.isReady)
            throw fault == .closed && !child.isReady ? Stillbirth(error: error) : error
        }
    }

    private func bury(_ child: RunningChild, _ fault: ChildFault) -> ChildProcess.Ending {
        current = nil
        counter.countFailed()
        // One that closed its socket is about to end: how it ends says whose fault it was.
        if fault == .closed { _ = child.process.waitUntilEnded(milliseconds: Limits.childEndMillisecondsMax) }
        return child.end()
    }

    private func startForCall() throws -> RunningChild {
        do {
            return try start()
        } catch {
            throw AttachPrepError(
                .internal, "The media process could not be started; run attachprep doctor.", detail: "\(error)")
        }
    }

    private func start() throws(SystemError) -> RunningChild {
        try RunningChild.start(program)
    }
}
