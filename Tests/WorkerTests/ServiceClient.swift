import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// What a caller of the service does: URLSession, and nothing that the service's own code knows.
struct ServiceClient: Sendable {
    let url: String
    var token: String?

    struct Answer: Sendable {
        let status: Int
        let headers: [String: String]
        let body: Data

        /// A header, whatever its case.
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
    ) async throws -> Answer {
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
        return Answer(status: http.statusCode, headers: Dictionary(pairs) { $1 }, body: data)
    }

    func get(_ path: String) async throws -> Answer { try await send("GET", path) }

    /// Sends one request and returns its job's id.
    func submit(_ json: String, headers: [String: String] = [:]) async throws -> String {
        let answer = try await send("POST", "/v1/jobs", body: json, headers: headers)
        #expect(answer.status == 202, "\(answer.text)")
        return try #require(try answer.json()["id"] as? String)
    }

    /// Sends many and returns their jobs' ids.
    func submit(lines: [String]) async throws -> [String] {
        let answer = try await send(
            "POST", "/v1/jobs", body: lines.joined(separator: "\n"), headers: ["Content-Type": "application/x-ndjson"])
        #expect(answer.status == 202, "\(answer.text)")
        let jobs = try #require(try answer.json()["jobs"] as? [[String: Any]])
        return jobs.compactMap { $0["id"] as? String }
    }

    func job(_ id: String) async throws -> JobFacts { try JobFacts(try await get("/v1/jobs/\(id)").json()) }

    /// All jobs there are, page by page.
    func jobs(state: String? = nil) async throws -> [JobFacts] {
        var (jobs, cursor): ([JobFacts], String?) = ([], nil)
        repeat {
            let query = ["limit=200", state.map { "state=\($0)" }, cursor.map { "cursor=\($0)" }].compactMap { $0 }
            let page = try await get("/v1/jobs?" + query.joined(separator: "&")).json()
            jobs += try #require(page["jobs"] as? [[String: Any]]).map(JobFacts.init)
            cursor = page["next"] as? String
        } while cursor != nil
        return jobs
    }

    /// Waits until a job has ended.
    func ended(_ id: String, seconds: Double = 60) async throws -> JobFacts {
        try await askUntil("job \(id) has ended", seconds: seconds) { try await job(id).hasEnded }
        return try await job(id)
    }

    /// Waits until no job waits or runs.
    func allEnded(seconds: Double) async throws {
        try await askUntil("no job waits or runs", seconds: seconds) {
            let page = try await get("/v1/jobs?state=queued,running&limit=1").json()
            return (page["jobs"] as? [Any])?.isEmpty == true
        }
    }
}

/// A job as the service answers it.
struct JobFacts: @unchecked Sendable {
    // JSON values of Foundation: never changed.
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

    /// A file of its result: its address and its digest.
    func file(_ name: String) -> (url: String, sha256: String)? {
        guard let file = result?[name] as? [String: Any], let url = file["url"] as? String,
            let digest = file["sha256"] as? String
        else { return nil }
        return (url, digest)
    }
}
