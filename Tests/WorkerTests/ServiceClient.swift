import Foundation
import FoundationNetworking
import Synchronization
import TestSupport
import Testing

/// A client of the service with URLSession, independent of the product's code.
struct ServiceClient: Sendable {
    let url: String
    var token: String?

    struct Response: Sendable {
        let status: Int
        let headers: [String: String]
        let body: Data

        /// The value of a header; names are case-insensitive.
        func header(_ name: String) -> String? {
            headers.first { $0.key.lowercased() == name.lowercased() }?.value
        }

        func json() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any], "\(text)")
        }

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    func send(
        _ method: String, _ path: String, body: String? = nil, headers: [String: String] = [:]
    ) async throws -> Response {
        var request = URLRequest(url: try #require(URL(string: path.hasPrefix("http") ? path : url + path)))
        request.httpMethod = method
        request.timeoutInterval = 70
        request.httpBody = body.map { Data($0.utf8) }
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        let pairs = http.allHeaderFields.map { ("\($0.key)", "\($0.value)") }
        return Response(status: http.statusCode, headers: Dictionary(pairs) { $1 }, body: data)
    }

    func get(_ path: String) async throws -> Response { try await send("GET", path) }

    /// Submits one job and returns its ID.
    func submit(_ json: String, headers: [String: String] = [:]) async throws -> String {
        let response = try await send("POST", "/v1/jobs", body: json, headers: headers)
        #expect(response.status == 202, "\(response.text)")
        return try #require(try response.json()["id"] as? String)
    }

    /// Submits many jobs and returns their IDs.
    func submit(lines: [String]) async throws -> [String] {
        let response = try await send(
            "POST", "/v1/jobs", body: lines.joined(separator: "\n"), headers: ["Content-Type": "application/x-ndjson"])
        #expect(response.status == 202, "\(response.text)")
        let jobs = try #require(try response.json()["jobs"] as? [[String: Any]])
        return jobs.compactMap { $0["id"] as? String }
    }

    func job(_ id: String) async throws -> ServiceJob { try ServiceJob(try await get("/v1/jobs/\(id)").json()) }

    /// All jobs, read page by page.
    func jobs(state: String? = nil) async throws -> [ServiceJob] {
        var (jobs, cursor): ([ServiceJob], String?) = ([], nil)
        repeat {
            let query = ["limit=200", state.map { "state=\($0)" }, cursor.map { "cursor=\($0)" }].compactMap { $0 }
            let page = try await get("/v1/jobs?" + query.joined(separator: "&")).json()
            jobs += try #require(page["jobs"] as? [[String: Any]]).map(ServiceJob.init)
            cursor = page["next"] as? String
        } while cursor != nil
        return jobs
    }

    /// Waits until a job has ended, and returns it.
    func ended(_ id: String, seconds: Double = 60) async throws -> ServiceJob {
        try await pollUntil("job \(id) has ended", seconds: seconds) { try await job(id).hasEnded }
        return try await job(id)
    }

    /// Waits until no job is queued or running.
    func allEnded(seconds: Double) async throws {
        try await pollUntil("no job is queued or running", seconds: seconds) {
            let page = try await get("/v1/jobs?state=queued,running&limit=1").json()
            return (page["jobs"] as? [Any])?.isEmpty == true
        }
    }
}

/// A job in a response of the service.
struct ServiceJob: @unchecked Sendable {
    // JSON values of Foundation, which are never changed.
    let json: [String: Any]

    init(_ json: [String: Any]) throws {
        self.json = json
    }

    var id: String { json["id"] as? String ?? "" }
    var state: String { json["state"] as? String ?? "" }
    var attempts: Int { json["attempts"] as? Int ?? -1 }
    var result: [String: Any]? { json["result"] as? [String: Any] }
    var errorCode: String? { (json["error"] as? [String: Any])?["code"] as? String }
    var hasEnded: Bool { !["queued", "running", ""].contains(state) }

    /// A file of the result: its URL and its digest.
    func file(_ name: String) -> (url: String, sha256: String)? {
        guard let file = result?[name] as? [String: Any], let url = file["url"] as? String,
            let digest = file["sha256"] as? String
        else { return nil }
        return (url, digest)
    }
}

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
