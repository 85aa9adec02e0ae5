import Foundation
import Synchronization
import TestSupport
import Testing

/// Concurrent clients that submit jobs one by one, each with an idempotency key, and retry until it is accepted.
final class JobSubmitter: Sendable {
    private let lines: [String]
    private let clients: Int
    private let url = Mutex("")
    private let task = Mutex<Task<[String], any Error>?>(nil)

    init(lines: [String], clients: Int) {
        self.lines = lines
        self.clients = clients
    }

    func begin(at url: String) {
        move(to: url)
        let task = Task {
            try await withThrowingTaskGroup(of: [String].self) { group in
                for client in 0..<clients {
                    group.addTask {
                        var ids: [String] = []
                        for number in stride(from: client, to: self.lines.count, by: self.clients) {
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

    /// Continues with another address of the service.
    func move(to url: String) {
        self.url.withLock { $0 = url }
    }

    /// Waits until all jobs are accepted.
    ///
    /// - Returns: the IDs of the jobs.
    func finish() async throws -> [String] {
        try await #require(task.withLock { $0 }).value
    }

    private func send(_ number: Int) async throws -> String {
        let id = Mutex<String?>(nil)
        try await pollUntil("job \(number) is accepted", seconds: 300) {
            let client = ServiceClient(url: self.url.withLock { $0 })
            let response = try? await client.send(
                "POST", "/v1/jobs", body: self.lines[number], headers: ["Idempotency-Key": "job-\(number)"])
            guard let response, response.status == 202 else { return false }
            let accepted = try response.json()["id"] as? String
            id.withLock { $0 = accepted }
            return accepted != nil
        }
        return try #require(id.withLock { $0 })
    }
}

/// Waits without regard to the state of the service, so that kills hit any step.
enum ServiceTimer {
    static func elapse(milliseconds: Int) async throws {
        let end = Date(timeIntervalSinceNow: Double(milliseconds) / 1000)
        try await waitUntil("time has passed") { Date() >= end }
    }
}
