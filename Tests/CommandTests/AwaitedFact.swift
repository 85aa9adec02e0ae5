import Foundation
import TestSupport

/// Waits for a fact that nobody reports, such as a process or a file: looked at a hundred times a second.
///
/// - Parameters:
///   - name: what the failure says when it never comes true.
///   - action: done at once, on the thread that looks: the tasks of other tests may hold this one up.
func waitUntil(
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

/// Does blocking work on a thread of its own: the pool has two threads here, and servers and signals wait on them.
func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
    }
}

/// A fact did not come true in time.
struct FactMissing: Error, CustomStringConvertible {
    let description: String
}

/// Processes as `/proc` shows them.
struct ProcessFacts: Sendable, Hashable {
    let processID: pid_t

    /// The numbers of the processes that this one started and that still run.
    var children: [ProcessFacts] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.map(ProcessFacts.init).filter {
            $0.isRunning && $0.parent == processID
        }
    }

    var parent: pid_t? { field(1).map(pid_t.init) }

    /// A zombie has ended; nobody may have reaped it.
    var isRunning: Bool { fields.first.map { $0 != "Z" } ?? false }

    /// Processor time in hundredths of a second.
    var ticks: Int { (field(11) ?? 0) + (field(12) ?? 0) }

    /// The most resident memory it ever had, in KB; 0 when it is gone.
    var memoryPeak: Int {
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
