import Foundation
import Logging
import RichPush
import TestSupport
import Testing

@testable import AttachPrepService

struct SessionTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The fields of what a browser may do, and the cookie that it has from then on.
    private func begin(_ service: LiveService) async throws -> (fields: [String], cookie: String) {
        let answer = try await service.stranger.post("/v1/session", json: #"{"token": "\#(LiveService.token)"}"#)
        #expect(answer.status == 200 && answer.object["authorized"] as? Bool == true)
        let fields = try #require(answer.field("set-cookie")).components(separatedBy: "; ")
        return (Array(fields.dropFirst()), fields[0])
    }

    private func browser(_ service: LiveService, _ cookie: String) -> HTTPCaller {
        HTTPCaller(port: service.port, headers: [("Cookie", cookie)], service: service)
    }

    @Test func `a session begins with a token and lets a browser ask as its caller`() async throws {
        let service = try await LiveService()
        let before = try await service.stranger.get("/v1/session")
        #expect(before.text == #"{"authorized":false,"required":true}"#)
        let cookie = try await begin(service).cookie
        let browser = browser(service, cookie)
        #expect(try await browser.get("/v1/session").text == #"{"authorized":true,"required":true}"#)
        #expect(try await browser.get("/v1/jobs").status == 200)
        #expect(try await browser.send("HEAD", "/v1/events").status == 200)
        let others = HTTPCaller(port: service.port, headers: [("Cookie", "a=b; \(cookie); c=d")], service: service)
        #expect(try await others.get("/v1/jobs").status == 200)
    }

    @Test func `its cookie is kept from scripts, from other sites and from plain connections, and holds no token`()
        async throws
    {
        let (fields, cookie) = try await begin(try await LiveService())
        #expect(Set(fields) == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Strict", "Secure"])
        #expect(cookie.hasPrefix("__Host-attachprep=") && !cookie.contains(LiveService.token))
        let plain = try await begin(try await LiveService { $0.baseURL = "http://127.0.0.1:8080" })
        #expect(!plain.fields.contains("Secure") && plain.cookie.hasPrefix("attachprep="))
    }

    @Test func `a wrong token begins none, and is counted as wrong tokens are`() async throws {
        let service = try await LiveService()
        let begin = { @Sendable in
            try await service.stranger.post("/v1/session", json: #"{"token": "wrong-token-0123456789"}"#)
        }
        let first = try await begin()
        #expect(first.status == 401 && first.field("set-cookie") == nil)
        #expect(first.field("www-authenticate") == "Bearer")
        var statuses: Set<Int> = []
        for _ in 0..<40 { statuses.insert(try await begin().status) }
        #expect(statuses == [401, 429])
    }

    @Test func `nobody tries tokens where a session is asked for`() async throws {
        let service = try await LiveService()
        var statuses: Set<Int> = []
        for _ in 0..<40 {
            let wrong = [("Authorization", "Bearer wrong-token-0123456789")]
            statuses.insert(try await service.stranger.get("/v1/session", wrong).status)
        }
        #expect(statuses == [401, 429])
        #expect(try await service.caller.get("/v1/session").object["authorized"] as? Bool == true)
        #expect(try await service.stranger.get("/v1/session").status == 200)
    }

    @Test(arguments: ["{}", #"{"token": 7}"#, #"{"token": "a", "caller": "b"}"#, "[]"])
    func `what shows no token in its form is refused`(body: String) async throws {
        let answer = try await LiveService().stranger.post("/v1/session", json: body)
        #expect(answer.status == 400 && answer.code == "request.invalid")
    }

    @Test func `a body that no token can be is not read`() async throws {
        let text = String(repeating: "a", count: Limits.sessionBytesMax)
        let answer = try await LiveService().stranger.post("/v1/session", json: #"{"token": "\#(text)"}"#)
        #expect(answer.status == 413)
    }

    @Test func `nobody can write a session or prolong one`() async throws {
        let service = try await LiveService { $0.wrongTokensPerSecondMax = 0 }
        let cookie = try await begin(service).cookie
        let value = try #require(cookie.split(separator: "=").last)
        let parts = value.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let later = String(try #require(Int(parts[0])) + 1)
        let forged = [
            "\(later).\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])",
            "\(parts[0]).\(String(repeating: "0", count: 32)).\(parts[2])", "", "...", "1.\(parts[1]).\(parts[2])",
            "\(parts[0]).\(parts[1]).\(String(parts[2].reversed()))",
        ]
        for value in forged {
            let status = try await browser(service, "__Host-attachprep=\(value)").get("/v1/jobs").status
            #expect(status == 401, "\(value)")
        }
    }

    @Test func `a session ends with its token, on every machine that has the same tokens it holds`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("\(LiveService.token)\nother-token-0123456789\n", to: "tokens")
        let tokens = try AccessTokens(file: path, logger: logger)
        let service = try await LiveService(tokens: tokens) { $0.wrongTokensPerSecondMax = 0 }
        let cookie = try await begin(try await LiveService()).cookie
        #expect(try await browser(service, cookie).get("/v1/jobs").status == 200)
        try folder.write("other-token-0123456789\n", to: "tokens")
        tokens.reload()
        #expect(try await browser(service, cookie).get("/v1/jobs").status == 401)
    }

    @Test func `a session is over after twelve hours, whatever the browser keeps`() throws {
        let tokens = try AccessTokens([LiveService.token], logger: logger)
        let start = Date(timeIntervalSince1970: 1_795_294_262)
        let field = try #require(SessionCookie(baseURL: nil).field(for: LiveService.token, tokens, at: start))
        let value = try #require(field.split(separator: ";").first).dropFirst("attachprep=".count)
        let seconds = Double(Limits.sessionSecondsMax)
        #expect(SessionCookie.caller(in: value, tokens, at: start + seconds - 1) != nil)
        #expect(SessionCookie.caller(in: value, tokens, at: start + seconds) == nil)
    }

    @Test(arguments: [
        [("Sec-Fetch-Site", "same-origin")], [("Origin", "http://localhost:PORT")],
        [("Sec-Fetch-Site", "same-origin"), ("Origin", "null")],
    ])
    func `a session changes things from our own page`(fields: [(String, String)]) async throws {
        let answer = try await change(fields)
        #expect(answer.status == 202)
    }

    @Test(arguments: [
        [], [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "none")],
        [("Origin", "http://localhost")], [("Origin", "null")], [("Origin", "http://localhost.evil.example:PORT")],
        [("Sec-Fetch-Site", "same-site"), ("Origin", "http://localhost:PORT")],
    ])
    func `a session changes nothing from anywhere else`(fields: [(String, String)]) async throws {
        let answer = try await change(fields)
        #expect(answer.status == 403 && answer.code == "request.unauthorized")
    }

    private func change(_ fields: [(String, String)]) async throws -> HTTPCaller.Answer {
        let service = try await LiveService()
        let browser = browser(service, try await begin(service).cookie)
        let sent = fields.map { ($0.0, $0.1.replacingOccurrences(of: "PORT", with: "\(service.port)")) }
        return try await browser.post("/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, sent)
    }

    @Test func `a token that is shown counts, whatever the cookie says`() async throws {
        let service = try await LiveService()
        let cookie = try await begin(service).cookie
        let browser = browser(service, cookie)
        #expect(try await browser.get("/v1/jobs", [("Authorization", "Bearer wrong-0123456789012")]).status == 401)
        // Of a proxy in front, with people and passwords of its own.
        #expect(try await browser.get("/v1/jobs", [("Authorization", "Basic eDp5")]).status == 200)
        let job = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [("Cookie", cookie)])
        #expect(job.status == 202)
    }

    @Test func `a session that is ended is forgotten by its browser`() async throws {
        let answer = try await LiveService().stranger.send("DELETE", "/v1/session")
        #expect(answer.status == 200 && answer.object["authorized"] as? Bool == false)
        let field = try #require(answer.field("set-cookie"))
        #expect(field == "__Host-attachprep=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure")
    }

    @Test func `a service without tokens asks for none and gives no session`() async throws {
        let service = try await LiveService(token: nil)
        #expect(try await service.stranger.get("/v1/session").text == #"{"authorized":true,"required":false}"#)
        let answer = try await service.stranger.post("/v1/session", json: #"{"token": ""}"#)
        #expect(answer.status == 200 && answer.field("set-cookie") == nil)
    }
}
