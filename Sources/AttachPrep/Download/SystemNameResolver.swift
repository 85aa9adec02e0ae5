internal import Curl
internal import RichPush
internal import Synchronization

/// The system's resolver, on threads that are abandoned when they hang.
///
/// `getaddrinfo` cannot be stopped: a lookup whose task is cancelled returns at once, and its thread ends whenever the
/// system lets it. So that names which hang do not keep others from being found:
/// - the names of one domain have `domainThreadsMax` threads, however many are asked for;
/// - a name that is being looked up is not looked up again: who asks for it waits for the same answer;
/// - a thread whose lookup nobody waits for any more leaves its place to another, up to `hangingFactor` times the usual
///   number of threads in all;
/// - a quarter of the threads is kept for domains that answered before.
package final class SystemNameResolver: NameResolver {
    private let look: @Sendable (String) -> Result<[IPAddress], NameResolutionError>
    private let state: Mutex<LookupQueue>

    package convenience init() {
        self.init(threadsMax: Limits.resolverThreadsMax, look: AddressLookup.ask)
    }

    /// - Parameter look: blocks until it has the answer; `getaddrinfo`, unless a test replaces it.
    package init(
        threadsMax: Int, look: @escaping @Sendable (String) -> Result<[IPAddress], NameResolutionError>
    ) {
        state = Mutex(LookupQueue(threadsMax: threadsMax))
        self.look = look
    }

    package func addresses(of host: String) async throws -> [IPAddress] {
        let (lookup, name) = (Lookup(), host.lowercased())
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                lookup.wait(continuation)
                state.withLock { $0.add(lookup, name) }
                startThreads()
                if Task.isCancelled { giveUp(lookup, name) }
            }
        } onCancel: {
            giveUp(lookup, name)
        }
    }

    /// The part of a name that one owner has, most likely: its last two labels, or three under a registry's second
    /// level (`co.uk`). The whole list of public suffixes would know better; here a wrong guess costs a place in a
    /// queue.
    static func domain(of host: String) -> String {
        let labels = host.lowercased().split(separator: ".")
        let isRegistry = labels.count > 2 && labels.last?.count == 2 && secondLevels.contains(labels[labels.count - 2])
        return labels.suffix(isRegistry ? 3 : 2).joined(separator: ".")
    }

    /// Under which registries of countries register names.
    private static let secondLevels: Set<Substring> = [
        "ac", "co", "com", "edu", "go", "gov", "ne", "net", "or", "org",
    ]

    private func giveUp(_ lookup: Lookup, _ name: String) {
        lookup.finish(.failure(CancellationError()))
        state.withLock { $0.remove(lookup, name) }
        // Its thread may have become one that counts no more.
        startThreads()
    }

    private func startThreads() {
        while let name = state.withLock({ $0.next() }) {
            guard !DetachedThread.start({ [self] in work(name) }) else { continue }
            end(name, .failure(NameResolutionError.temporary(detail: "no thread left")))
        }
    }

    /// One thread's life: lookups until none may begin.
    private func work(_ first: String) {
        var next: String? = first
        while let name = next {
            end(name, look(name).mapError { $0 })
            next = state.withLock { $0.next() }
        }
    }

    private func end(_ name: String, _ result: Result<[IPAddress], any Error>) {
        let lookups = state.withLock { $0.end(name) }
        for lookup in lookups { lookup.finish(result) }
    }
}

/// Which name is looked up next.
private struct LookupQueue {
    private struct Query {
        let name: String
        let domain: String
        var lookups: [Lookup]
        /// It began as one of a domain that had answered.
        var isKnown = false
    }

    private let threadsMax: Int
    private var waiting: [Query] = []
    private var running: [String: Query] = [:]
    /// Domains that answered somebody who still waited; the latest last.
    private var answered: [String] = []

    /// Of one domain at a time: a name server that answers does so in milliseconds, and gets through hundreds of names
    /// a second; one that hangs costs eight threads.
    private static let domainThreadsMax = 8
    /// Threads in all, as a multiple of the usual ones: most of them hang, 50 KB each.
    private static let hangingFactor = 4
    /// Domains that are remembered: as many as a service of many customers fetches from.
    private static let answeredMax = 1_000

    init(threadsMax: Int) {
        self.threadsMax = threadsMax
    }

    mutating func add(_ lookup: Lookup, _ name: String) {
        if running[name] != nil {
            running[name]?.lookups.append(lookup)
        } else if let index = waiting.firstIndex(where: { $0.name == name }) {
            waiting[index].lookups.append(lookup)
        } else {
            waiting.append(Query(name: name, domain: SystemNameResolver.domain(of: name), lookups: [lookup]))
        }
    }

    /// Nobody waits for that lookup any more.
    mutating func remove(_ lookup: Lookup, _ name: String) {
        if let index = waiting.firstIndex(where: { $0.name == name }) {
            waiting[index].lookups.removeAll { $0 === lookup }
            if waiting[index].lookups.isEmpty { waiting.remove(at: index) }
        }
        guard var query = running[name], query.lookups.contains(where: { $0 === lookup }) else { return }
        query.lookups.removeAll { $0 === lookup }
        running[name] = query
        // It answers no more, or too slowly: the kept threads are not for it.
        if query.lookups.isEmpty { answered.removeAll { $0 == query.domain } }
    }

    /// The name whose lookup begins now; nil when none may.
    mutating func next() -> String? {
        guard !waiting.isEmpty else { return nil }
        var ofDomain: [String: Int] = [:]
        for query in running.values { ofDomain[query.domain, default: 0] += 1 }
        let awaited = running.values.filter { !$0.lookups.isEmpty }
        let unknown = awaited.count { !$0.isKnown }
        // Bounded: a setting of ours.
        let (kept, threadsAtMost) = (threadsMax / 4, threadsMax * Self.hangingFactor)
        let known = Set(answered)
        let index = waiting.firstIndex { query in
            guard ofDomain[query.domain, default: 0] < Self.domainThreadsMax else { return false }
            if known.contains(query.domain) { return awaited.count < threadsMax && running.count < threadsAtMost }
            // Bounded: a quarter of the threads, and at most four times as many.
            return awaited.count < threadsMax && unknown < threadsMax - kept && running.count < threadsAtMost - kept
        }
        guard let index else { return nil }
        var query = waiting.remove(at: index)
        query.isKnown = known.contains(query.domain)
        running[query.name] = query
        return query.name
    }

    /// Who waits for a name whose lookup has ended.
    mutating func end(_ name: String) -> [Lookup] {
        guard let query = running.removeValue(forKey: name) else { return [] }
        guard !query.lookups.isEmpty else { return [] }
        answered.removeAll { $0 == query.domain }
        answered.append(query.domain)
        if answered.count > Self.answeredMax { answered.removeFirst() }
        return query.lookups
    }
}

/// Somebody who waits for a name: answered once, by a thread or by the cancellation of its task.
private final class Lookup: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<[IPAddress], any Error>)
        case finished
    }

    private let state = Mutex(State.new)

    func wait(_ continuation: CheckedContinuation<[IPAddress], any Error>) {
        state.withLock { $0 = .waiting(continuation) }
    }

    func finish(_ result: Result<[IPAddress], any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<[IPAddress], any Error>? in
            // Not waiting yet: the task looks at its cancellation again once it is.
            guard case .waiting(let continuation) = state else { return nil }
            state = .finished
            return continuation
        }
        continuation?.resume(with: result)
    }
}
