import Foundation
import Synchronization
import TestSupport
import Testing

/// Callers that send jobs one by one, each with an idempotency key, and try again until the service has taken it.
final class Submission: Sendable {
    private let lines: [String]
    private let callers: Int
    private let url = Mutex("")
    private let task = Mutex<Task<[String], any Error>?>(nil)

    init(lines: [String], callers: Int) {
        self.lines = lines
        self.callers = callers
    }

    func begin(at url: String) {
        move(to: url)
        let task = Task {
            try await withThrowingTaskGroup(of: [String].self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        var ids: [String] = []
                        for number in stride(from: caller, to: self.lines.count, by: self.callers) {
                            ids.append(try await self.send(number))
                        }
                        return ids
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
        self.task.withLock { $0 = task }
    }

    /// The service listens elsewhere now.
    func move(to url: String) {
        self.url.withLock { $0 = url }
    }

    /// Waits until all are taken.
    ///
    /// - Returns: the jobs' ids.
    func finish() async throws -> [String] {
        try await #require(task.withLock { $0 }).value
    }

    private func send(_ number: Int) async throws -> String {
        let id = Mutex<String?>(nil)
        try await askUntil("job \(number) is taken", seconds: 300) {
            let client = ServiceClient(url: self.url.withLock { $0 })
            let answer = try? await client.send(
                "POST", "/v1/jobs", body: self.lines[number], headers: ["Idempotency-Key": "job-\(number)"])
            guard let answer, answer.status == 202 else { return false }
            let taken = try answer.json()["id"] as? String
            id.withLock { $0 = taken }
            return taken != nil
        }
        return try #require(id.withLock { $0 })
    }
}

/// Time that passes: what is killed is killed at some moment, whatever it is doing.
enum ServiceTimer {
    static func elapse(milliseconds: Int) async throws {
        let end = Date(timeIntervalSinceNow: Double(milliseconds) / 1000)
        try await waitUntil("time has passed") { Date() >= end }
    }
}
