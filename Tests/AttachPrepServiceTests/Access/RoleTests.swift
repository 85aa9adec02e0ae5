import AttachPrepModel
import Foundation
import Logging
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepService

struct RoleTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let tokens = """
        submitting-token-0123456789 name=backend roles=submit of the backend
        reading-token-0123456789 name=grafana roles=read
        operating-token-0123456789 name=night-shift roles=submit,read,operate
        plain-token-0123456789-0123
        """

    private let folder: TemporaryFolder
    private let service: LiveService

    init() async throws {
        folder = try TemporaryFolder()
        let path = try folder.write(Self.tokens + "\n", to: "tokens")
        service = try await LiveService(tokens: try AccessTokens(file: path, logger: Self.logger))
    }

    private func header(_ name: String) -> [(String, String)] {
        [("Authorization", "Bearer \(name)-token-0123456789\(name == "plain" ? "-0123" : "")")]
    }

    private func submit(as name: String) async throws -> String {
        let response = try await service.anonymous.post(
            "/v1/jobs", json: #"{"source": "https://cdn.example/1.png"}"#, header(name))
        return try #require(response.object["id"] as? String, "\(response.text)")
    }

    @Test(arguments: [
        ("submitting", "/v1/jobs", 403), ("submitting", "/v1/overview", 403), ("reading", "/v1/jobs", 200),
        ("operating", "/v1/jobs", 200), ("plain", "/v1/jobs", 200), ("submitting", "/v1/actions", 403),
    ])
    func `Lists and figures need the role read`(name: String, path: String, status: Int) async throws {
        #expect(try await service.anonymous.get(path, header(name)).status == status)
    }

    @Test(arguments: [
        ("/v1/jobs/purge", #"{"states": ["dead"]}"#), ("/v1/jobs/retry", #"{"states": ["dead"]}"#),
        ("/v1/jobs/cancel", #"{"states": ["queued"]}"#), ("/v1/jobs/pause", #"{"all": true}"#),
        ("/v1/jobs/resume", #"{"all": true}"#), ("/v1/webhooks/replay", #"{"states": ["givenUp"]}"#),
        ("/v1/jobs/priority", #"{"states": ["queued"], "priority": "bulk"}"#),
    ])
    func `Purging, pausing and acting on many need the role operate`(path: String, body: String) async throws {
        for name in ["submitting", "reading"] {
            let response = try await service.anonymous.post(path, json: body, header(name))
            #expect(response.status == 403 && response.text.contains("role operate"), "\(response.text)")
        }
        #expect(try await service.anonymous.post(path, json: body, header("operating")).status == 200)
    }

    @Test func `Without operate, a caller cancels and sees jobs of its own only`() async throws {
        let (own, other) = (try await submit(as: "submitting"), try await submit(as: "operating"))
        #expect(try await service.anonymous.get("/v1/jobs/\(own)", header("submitting")).status == 200)
        #expect(try await service.anonymous.get("/v1/jobs/\(other)", header("submitting")).status == 404)
        #expect(try await service.anonymous.send("DELETE", "/v1/jobs/\(other)", header("submitting")).status == 404)
        #expect(try await service.anonymous.send("DELETE", "/v1/jobs/\(own)", header("submitting")).status == 202)
        #expect(try await service.anonymous.send("DELETE", "/v1/jobs/\(other)", header("operating")).status == 202)
        #expect(
            try await service.anonymous.post(
                "/v1/jobs", json: #"{"source": "https://cdn.example/1.png"}"#, header("reading")
            ).status == 403)
    }

    @Test func `The log of actions names who did what, the latest first`() async throws {
        let job = try await submit(as: "submitting")
        _ = try await service.anonymous.send("DELETE", "/v1/jobs/\(job)", header("submitting"))
        _ = try await service.anonymous.post(
            "/v1/jobs/pause", json: #"{"lane": "bulk", "reason": "a move"}"#, header("operating"))
        _ = try await service.anonymous.post(
            "/v1/jobs/purge", json: #"{"states": ["cancelled"], "host": "cdn.example"}"#, header("operating"))
        let page = try await service.anonymous.get("/v1/actions?limit=2", header("reading")).object
        let first = try #require(page["actions"] as? [[String: Any]])
        #expect(first.map { $0["kind"] as? String } == ["purge", "pause"])
        #expect(first.map { $0["caller"] as? String } == ["night-shift", "night-shift"])
        #expect(first.first?["detail"] as? String == "1 jobs: state=cancelled, host=cdn.example")
        #expect(first.last?["detail"] as? String == "lane bulk (a move)")
        let next = try #require(page["next"] as? String)
        let rest = try await service.anonymous.get("/v1/actions?cursor=\(next)", header("reading")).object
        let last = try #require(rest["actions"] as? [[String: Any]])
        #expect(last.count == 1 && last[0]["detail"] as? String == "job \(job)")
        #expect(last[0]["caller"] as? String == "backend" && rest["next"] is NSNull)
    }

    @Test func `A session has the name and the roles of its token`() async throws {
        let began = try await service.anonymous.post(
            "/v1/session", json: #"{"token": "reading-token-0123456789"}"#)
        #expect(began.object["caller"] as? String == "grafana" && began.object["roles"] as? [String] == ["read"])
        let cookie = try #require(began.field("set-cookie")?.split(separator: ";").first.map(String.init))
        let fields = [("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")]
        #expect(try await service.anonymous.get("/v1/jobs", fields).status == 200)
        #expect(try await service.anonymous.post("/v1/jobs/pause", json: #"{"all": true}"#, fields).status == 403)
        let wrong = try await service.anonymous.post("/v1/session", json: #"{"token": "wrong-token-0123456789"}"#)
        #expect(wrong.status == 401 && wrong.text.contains("This token is not valid here"), "\(wrong.text)")
    }

    @Test(arguments: ["name=local", "name=a/b", "name=", "roles=admin", "roles=", "roles=read,"])
    func `A malformed name or role is rejected at the start`(words: String) throws {
        let path = try folder.write("# comment\n\nanother-token-0123456789 \(words)\n", to: "wrong")
        let error = #expect(throws: AttachPrepError.self) { try AccessTokens(file: path, logger: Self.logger) }
        #expect(error?.code == .requestInvalid)
        #expect(error?.message.hasPrefix("In line 3 of \(path): ") == true, "\(error as Any)")
    }
}
