import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import HTTPTypes
import Hummingbird
package import MediaTypes
import SafeArithmetic
import Synchronization

/// Requests that wait for a job to end, woken by one subscription to the job feed.
final class JobWaiters: Sendable {
    private struct State {
        var last = 0
        var waiters: [JobID: [Int: AsyncStream<Void>.Continuation]] = [:]
        var count = 0
        var isOver = false
    }

    private let state = Mutex(State())
    private let store: any JobQueue
    private let waitersMax: Int

    /// - Parameter waitersMax: the maximum of concurrent waits; further requests do not wait. Bounds the waits of
    ///   disconnected clients, which last until their deadline.
    init(store: any JobQueue, waitersMax: Int) {
        self.store = store
        self.waitersMax = waitersMax
    }

    /// Wakes the requests that wait for a changed job.
    func jobChanged(_ change: JobFeed.Change) {
        let waiting = state.withLock { $0.waiters[change.job]?.values.map(\.self) ?? [] }
        for waiter in waiting { waiter.yield() }
    }

    /// Ends all waits, and lets later ones return at once.
    func finish() {
        let all = state.withLock { state in
            defer { state.waiters = [:] }
            state.isOver = true
            return state.waiters.values.flatMap(\.values)
        }
        for waiter in all { waiter.finish() }
    }

    /// Waits until a job has ended (or `isEnough` holds), the deadline passes, or the service stops.
    ///
    /// - Returns: The job as loaded last.
    /// - Throws: `request.not_found`.
    func end(
        of id: JobID, before deadline: ContinuousClock.Instant,
        until isEnough: (Job) -> Bool = { $0.state.isFinished }
    ) async throws -> Job {
        while true {
            // Registers before loading, so that a change between load and wait is not missed.
            let registration = register(id)
            defer { if let registration { unregister(id, number: registration.number) } }
            guard let job = try await store.job(id) else { throw JobRoutes.unknown }
            guard !isEnough(job), let registration, ContinuousClock.now < deadline else { return job }
            await Self.first(of: registration.signals, before: deadline)
        }
    }

    /// Returns at the first signal, at the deadline, or after `waitPollSeconds`, when the job is loaded again anyway.
    private static func first(of signals: AsyncStream<Void>, before deadline: ContinuousClock.Instant) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in signals { return } }
            group.addTask {
                let poll = ContinuousClock.now.advanced(by: .seconds(clamping: Limits.waitPollSeconds))
                try? await Task.sleep(until: min(deadline, poll), clock: .continuous)
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func register(_ job: JobID) -> (number: Int, signals: AsyncStream<Void>)? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            guard !state.isOver, state.count < waitersMax else { return nil }
            state.last += 1
            state.count += 1
            state.waiters[job, default: [:]][state.last] = continuation
            return (state.last, stream)
        }
    }

    private func unregister(_ job: JobID, number: Int) {
        state.withLock { state in
            state.count -= 1
            state.waiters[job]?[number] = nil
            if state.waiters[job]?.isEmpty == true { state.waiters[job] = nil }
        }
    }
}

/// The `Prefer` header (RFC 7240): `wait=10` or `wait="10"`.
struct PreferHeader {
    /// Whole seconds; nil without a `wait` preference.
    let waitSeconds: Int?

    /// - Throws: `request.invalid` for a `wait` that is not whole seconds: a caller that is not waited for would take
    ///   the response for a timeout.
    init(_ request: Request) throws { try self.init(request.headers[values: .prefer]) }

    init(_ fields: [String]) throws {
        // Several fields form one list; the first occurrence of a preference counts.
        let list = Self.split(fields.joined(separator: ",")[...], at: ",").compactMap {
            Self.split($0, at: ";").first.flatMap(Self.pair)
        }
        guard let wait = list.first(where: { $0.name == "wait" }) else {
            waitSeconds = nil
            return
        }
        guard let seconds = seconds(in: wait.value) else {
            throw AttachPrepError(
                .requestInvalid,
                "The wait of the Prefer header must be whole seconds without a unit, such as wait=20, not "
                    + "\"\(MessageText.excerpt(wait.value, bytesMax: 80))\".")
        }
        waitSeconds = seconds
    }

    /// `token [ "=" word ]`, with spaces around each part; an empty value without or with an invalid word.
    private static func pair(_ text: Substring) -> (name: String, value: String)? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first?.trimmingSpaces.lowercased(), !name.isEmpty else { return nil }
        return (name, parts.count == 2 ? unquoted(parts[1].trimmingSpaces) ?? "" : "")
    }

    /// The value of a token or quoted string, without quotes and backslashes (RFC 9110, 5.6.4).
    private static func unquoted(_ word: Substring) -> String? {
        guard word.first == "\"" else { return String(word) }
        guard word.count > 1, word.last == "\"" else { return nil }
        var (text, isEscaped) = ("", false)
        for character in word.dropFirst().dropLast() {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else {
                text.append(character)
                isEscaped = false
            }
        }
        return text
    }

    /// Splits at separators outside quotes.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var (isQuoted, isEscaped) = (false, false)
        return text.split(omittingEmptySubsequences: false) { character in
            defer { isEscaped = isQuoted && !isEscaped && character == "\\" }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == separator && !isQuoted
        }
    }
}

/// Seconds from decimal digits, at most `preferredWaitSecondsMax`; nil for anything else.
private func seconds(in text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
        return nil
    }
    // Numbers that overflow Int are above the maximum.
    return min(Int(text) ?? .max, Int(Limits.preferredWaitSecondsMax))
}

extension Limits {
    /// The longest time that a caller may wait for a job's end; proxies commonly give up after 60 s.
    package static let preferredWaitSecondsMax = 55.0
    /// Interval at which a waiting request checks its job: another process may have finished it.
    static let waitPollSeconds = 5.0
}
