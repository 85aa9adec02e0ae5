import Dispatch
import Foundation

/// Waits for a fact that nobody reports, such as a process or a file: looked at a hundred times a second.
///
/// - Parameters:
///   - name: what the failure says when it never comes true.
///   - action: done at once, on the thread that looks: the tasks of other tests may hold this one up.
public func waitUntil(
    _ name: String, seconds: Double = 30, _ isSo: @escaping @Sendable () -> Bool,
    then action: @escaping @Sendable () -> Void = {}
) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        Thread.detachNewThread {
            let end = Date(timeIntervalSinceNow: seconds)
            let condition = NSCondition()
            var isTrue = isSo()
            while !isTrue, Date() < end {
                condition.withLock { _ = condition.wait(until: Date(timeIntervalSinceNow: 0.01)) }
                isTrue = isSo()
            }
            if isTrue { action() }
            continuation.resume(
                with: isTrue ? .success(()) : .failure(FactMissing(description: "\(name) never came true")))
        }
    }
}

/// Asks for a fact, twenty times a second, until it is so: for facts that somebody has to be asked for.
public func askUntil(
    _ name: String, seconds: Double = 60, _ isSo: @Sendable () async throws -> Bool
) async throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while try await !isSo() {
        guard Date() < end else { throw FactMissing(description: "\(name) never came true") }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { continuation.resume() }
        }
    }
}

/// Does blocking work on a thread of its own: the pool has two threads here, and servers and signals wait on them.
public func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
    }
}

/// A fact did not come true in time.
public struct FactMissing: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) {
        self.description = description
    }
}

/// Processes as `/proc` shows them.
public struct ProcessFacts: Sendable, Hashable {
    public let processID: pid_t

    public init(processID: pid_t) {
        self.processID = processID
    }

    /// The numbers of the processes that this one started and that still run.
    public var children: [ProcessFacts] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.map(ProcessFacts.init(processID:)).filter {
            $0.isRunning && $0.parent == processID
        }
    }

    public var parent: pid_t? { field(1).map(pid_t.init) }

    /// A zombie has ended; nobody may have reaped it.
    public var isRunning: Bool { fields.first.map { $0 != "Z" } ?? false }

    /// Processor time in hundredths of a second.
    public var ticks: Int { (field(11) ?? 0) + (field(12) ?? 0) }

    /// The most resident memory it ever had, in KB; 0 when it is gone.
    public var memoryPeak: Int {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return 0 }
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    /// The fields of `/proc/N/stat` behind the name: state, parent… See proc(5).
    private var fields: [Substring] {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return [] }
        return text[end...].dropFirst().split(separator: " ")
    }

    private func field(_ index: Int) -> Int? { fields.dropFirst(index).first.flatMap { Int($0) } }
}
