internal import Glibc
internal import Linux
internal import MediaTypes
internal import Synchronization

/// Resolves names with `getaddrinfo` on threads that are abandoned when they hang.
///
/// `getaddrinfo` cannot be interrupted: a cancelled lookup returns at once, and its thread ends when `getaddrinfo`
/// returns. So that hanging names do not delay others:
/// - one domain uses at most `domainThreadsMax` threads;
/// - concurrent lookups of the same name share one query;
/// - a thread whose lookups were all cancelled no longer counts against `threadsMax`, up to `totalThreadsFactor` times
///   `threadsMax` threads in total;
/// - a quarter of the threads is reserved for domains that were resolved before.
package final class SystemNameResolver: NameResolver {
    private let lookUp: @Sendable (String) -> Result<[IPAddress], NameResolutionError>
    private let state: Mutex<LookupQueue>

    package convenience init() {
        self.init(threadsMax: Limits.resolverThreadsMax, lookUp: AddressLookup.resolve)
    }

    /// - Parameters:
    ///   - threadsMax: The most threads with lookups that are still awaited.
    ///   - lookUp: Resolves a name and blocks until it is done; `getaddrinfo`, unless a test replaces it.
    package init(
        threadsMax: Int, lookUp: @escaping @Sendable (String) -> Result<[IPAddress], NameResolutionError>
    ) {
        state = Mutex(LookupQueue(threadsMax: threadsMax))
        self.lookUp = lookUp
    }

    package func addresses(of host: String) async throws -> [IPAddress] {
        let (lookup, name) = (Lookup(), host.lowercased())
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                lookup.wait(continuation)
                state.withLock { $0.add(lookup, name: name) }
                startThreads()
                if Task.isCancelled { giveUp(lookup, name: name) }
            }
        } onCancel: {
            giveUp(lookup, name: name)
        }
    }

    /// The registrable domain of a name, approximately: its last two labels, or three under a second-level registry
    /// such as `co.uk`. An error only affects the queue order, so the public suffix list is not needed.
    static func domain(of host: String) -> String {
        let labels = host.lowercased().split(separator: ".")
        let isRegistry = labels.count > 2 && labels.last?.count == 2 && secondLevels.contains(labels[labels.count - 2])
        return labels.suffix(isRegistry ? 3 : 2).joined(separator: ".")
    }

    /// Second-level labels under which country registries register names.
    private static let secondLevels: Set<Substring> = [
        "ac", "co", "com", "edu", "go", "gov", "ne", "net", "or", "org",
    ]

    private func giveUp(_ lookup: Lookup, name: String) {
        lookup.finish(.failure(CancellationError()))
        state.withLock { $0.remove(lookup, name: name) }
        // The thread of this lookup may no longer count against the limit, so another one may start.
        startThreads()
    }

    private func startThreads() {
        while let name = state.withLock({ $0.next() }) {
            do { try DedicatedThread.start(name: "resolver") { [self] in work(name) } } catch {
                end(name, result: .failure(NameResolutionError.temporary(detail: "no thread could be started")))
            }
        }
    }

    /// Runs lookups on one thread until none may start.
    private func work(_ first: String) {
        var next: String? = first
        while let name = next {
            end(name, result: lookUp(name).mapError { $0 })
            next = state.withLock { $0.next() }
        }
    }

    private func end(_ name: String, result: Result<[IPAddress], any Error>) {
        let lookups = state.withLock { $0.end(name) }
        for lookup in lookups { lookup.finish(result) }
    }
}

/// The queue of names to look up, with the limits per domain and in total.
private struct LookupQueue {
    private struct Query {
        let name: String
        let domain: String
        var lookups: [Lookup]
        /// Whether its domain had been resolved before when the query started.
        var isKnown = false
    }

    private let threadsMax: Int
    private var waiting: [Query] = []
    private var running: [String: Query] = [:]
    /// Domains with a lookup that ended while still awaited; the latest last.
    private var answered: [String] = []

    /// Threads per domain: a working name server responds in milliseconds and so resolves hundreds of names a second
    /// with 8 threads; a hanging one blocks no more than 8.
    private static let domainThreadsMax = 8
    /// Total threads as a multiple of `threadsMax`. Most of them hang, at 50 KB each.
    private static let totalThreadsFactor = 4
    /// Remembered domains: enough for a service with many customers.
    private static let answeredMax = 1_000

    init(threadsMax: Int) {
        self.threadsMax = threadsMax
    }

    mutating func add(_ lookup: Lookup, name: String) {
        if running[name] != nil {
            running[name]?.lookups.append(lookup)
        } else if let index = waiting.firstIndex(where: { $0.name == name }) {
            waiting[index].lookups.append(lookup)
        } else {
            waiting.append(Query(name: name, domain: SystemNameResolver.domain(of: name), lookups: [lookup]))
        }
    }

    /// Removes a lookup that was cancelled.
    mutating func remove(_ lookup: Lookup, name: String) {
        if let index = waiting.firstIndex(where: { $0.name == name }) {
            waiting[index].lookups.removeAll { $0 === lookup }
            if waiting[index].lookups.isEmpty { waiting.remove(at: index) }
        }
        guard var query = running[name], query.lookups.contains(where: { $0 === lookup }) else { return }
        query.lookups.removeAll { $0 === lookup }
        running[name] = query
        // The domain hangs or is too slow: it loses access to the reserved threads.
        if query.lookups.isEmpty { answered.removeAll { $0 == query.domain } }
    }

    /// Takes the next name to look up; nil when none may start.
    mutating func next() -> String? {
        guard !waiting.isEmpty else { return nil }
        var ofDomain: [String: Int] = [:]
        for query in running.values { ofDomain[query.domain, default: 0] += 1 }
        let awaited = running.values.filter { !$0.lookups.isEmpty }
        let unknown = awaited.count { !$0.isKnown }
        let (kept, threadsAtMost) = (threadsMax / 4, threadsMax * Self.totalThreadsFactor)
        let known = Set(answered)
        let index = waiting.firstIndex { query in
            guard ofDomain[query.domain, default: 0] < Self.domainThreadsMax else { return false }
            if known.contains(query.domain) { return awaited.count < threadsMax && running.count < threadsAtMost }
            return awaited.count < threadsMax && unknown < threadsMax - kept && running.count < threadsAtMost - kept
        }
        guard let index else { return nil }
        var query = waiting.remove(at: index)
        query.isKnown = known.contains(query.domain)
        running[query.name] = query
        return query.name
    }

    /// Removes a query that has ended and returns the lookups that await it.
    mutating func end(_ name: String) -> [Lookup] {
        guard let query = running.removeValue(forKey: name) else { return [] }
        guard !query.lookups.isEmpty else { return [] }
        answered.removeAll { $0 == query.domain }
        answered.append(query.domain)
        if answered.count > Self.answeredMax { answered.removeFirst() }
        return query.lookups
    }
}

/// One call that awaits a name; resumed once, with the result or by cancellation.
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
            // Not waiting yet: `addresses(of:)` checks for cancellation again afterwards.
            guard case .waiting(let continuation) = state else { return nil }
            state = .finished
            return continuation
        }
        continuation?.resume(with: result)
    }
}

/// The blocking lookup with `getaddrinfo`.
enum AddressLookup {
    /// All addresses of a name without duplicates; blocks without a time limit.
    static func resolve(_ host: String) -> Result<[IPAddress], NameResolutionError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else { return .failure(error(status)) }
        defer { unsafe freeaddrinfo(list) }
        let addresses = unsafe addresses(in: list)
        return addresses.isEmpty ? .failure(.unknownName) : .success(addresses)
    }

    private static func addresses(in list: UnsafeMutablePointer<addrinfo>?) -> [IPAddress] {
        var found: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe numeric(entry.pointee), !found.contains(address) { found.append(address) }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    private static func numeric(_ entry: addrinfo) -> IPAddress? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = unsafe getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        guard status == 0 else { return nil }
        return IPAddress(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    private static func error(_ status: Int32) -> NameResolutionError {
        let detail = unsafe gai_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
        return switch status {
        case EAI_NONAME, Self.noAddress: .unknownName
        case EAI_AGAIN: .temporary(detail: detail)
        default: .failed(detail: detail)
        }
    }

    /// EAI_NODATA, which glibc's header declares only with _GNU_SOURCE.
    private static let noAddress: Int32 = -5
}

extension Limits {
    /// Threads for name resolution: one per request in flight, and the same number again for lookups that hang on
    /// unreachable name servers.
    static let resolverThreadsMax = 64
}
