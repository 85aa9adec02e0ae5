import Dispatch
import Foundation

/// Waits for a condition that sends no event, such as the end of a process or a file: polled 100 times a second.
///
/// - Parameters:
///   - name: names the condition in the error when it never comes true.
///   - action: run at once, on the polling thread: the tasks of other tests may delay this one.
public func waitUntil(
    _ name: String, seconds: Double = 30, _ condition: @escaping @Sendable () -> Bool,
    then action: @escaping @Sendable () -> Void = {}
) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        Thread.detachNewThread {
            let end = Date(timeIntervalSinceNow: seconds)
            let pause = NSCondition()
            var isTrue = condition()
            while !isTrue, Date() < end {
                pause.withLock { _ = pause.wait(until: Date(timeIntervalSinceNow: 0.01)) }
                isTrue = condition()
            }
            if isTrue { action() }
            continuation.resume(
                with: isTrue ? .success(()) : .failure(TestError(description: "\(name) never came true")))
        }
    }
}

/// Polls an asynchronous condition, 20 times a second, until it is true.
public func pollUntil(
    _ name: String, seconds: Double = 60, _ condition: @Sendable () async throws -> Bool
) async throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while try await !condition() {
        guard Date() < end else { throw TestError(description: "\(name) never came true") }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { continuation.resume() }
        }
    }
}

/// Runs blocking work on its own thread: the pool may have only two threads, which servers and signals need.
public func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
    }
}

/// A test's own set-up failed, or a condition did not come true in time.
public struct TestError: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) {
        self.description = description
    }
}

/// A process as `/proc` shows it.
public struct ProcessStatus: Sendable, Hashable {
    public let processID: pid_t

    public init(processID: pid_t) {
        self.processID = processID
    }

    /// The processes that this one started and that still run.
    public var children: [ProcessStatus] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.map(ProcessStatus.init(processID:)).filter {
            $0.isRunning && $0.parent == processID
        }
    }

    public var parent: pid_t? { field(1).map(pid_t.init) }

    /// False for a zombie, which has ended and may not have been reaped.
    public var isRunning: Bool { fields.first.map { $0 != "Z" } ?? false }

    /// Processor time in hundredths of a second.
    public var ticks: Int { (field(11) ?? 0) + (field(12) ?? 0) }

    /// Peak resident memory in KB; 0 when the process is gone.
    public var memoryPeak: Int {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return 0 }
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    /// The fields of `/proc/N/stat` after the name: state, parent… See proc(5).
    private var fields: [Substring] {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return [] }
        return text[end...].dropFirst().split(separator: " ")
    }

    private func field(_ index: Int) -> Int? { fields.dropFirst(index).first.flatMap { Int($0) } }
}
