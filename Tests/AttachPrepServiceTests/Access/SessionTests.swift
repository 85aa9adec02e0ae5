import Foundation
import Logging
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepService

struct SessionTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Starts a session: the attributes of the cookie, and the cookie itself.
    private func begin(_ service: LiveService) async throws -> (fields: [String], cookie: String) {
        let response = try await service.anonymous.post("/v1/session", json: #"{"token": "\#(LiveService.token)"}"#)
        #expect(response.status == 200 && response.object["authorized"] as? Bool == true)
        let fields = try #require(response.field("set-cookie")).components(separatedBy: "; ")
        return (Array(fields.dropFirst()), fields[0])
    }

    private func browser(_ service: LiveService, _ cookie: String) -> TestHTTPClient {
        TestHTTPClient(port: service.port, headers: [("Cookie", cookie)], service: service)
    }

    @Test func `A session is created with a token and authenticates a browser`() async throws {
        let service = try await LiveService()
        let before = try await service.anonymous.get("/v1/session")
        #expect(before.text == #"{"authorized":false,"caller":null,"environment":null,"required":true,"roles":[]}"#)
        let cookie = try await begin(service).cookie
        let browser = browser(service, cookie)
        let after = try await browser.get("/v1/session").object
        #expect(after["authorized"] as? Bool == true && after["required"] as? Bool == true)
        #expect(after["roles"] as? [String] == ["submit", "read", "operate"] && after["caller"] is String)
        #expect(try await browser.get("/v1/jobs").status == 200)
        #expect(try await browser.send("HEAD", "/v1/events").status == 200)
        let others = TestHTTPClient(port: service.port, headers: [("Cookie", "a=b; \(cookie); c=d")], service: service)
        #expect(try await others.get("/v1/jobs").status == 200)
    }

    @Test func `The session cookie is HttpOnly, SameSite=Strict and Secure, and does not contain the token`()
        async throws
    {
        let (fields, cookie) = try await begin(try await LiveService())
        #expect(Set(fields) == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Strict", "Secure"])
        #expect(cookie.hasPrefix("__Host-attachprep-443=") && !cookie.contains(LiveService.token))
        let plain = try await begin(try await LiveService { $0.baseURL = "http://127.0.0.1:8080" })
        #expect(!plain.fields.contains("Secure") && plain.cookie.hasPrefix("attachprep-8080="))
    }

    private static let names: [(String?, Int, String)] = [
        ("http://127.0.0.1:8080", 8080, "attachprep-8080"), ("http://127.0.0.1:8081", 8081, "attachprep-8081"),
        ("https://m.example", 8080, "__Host-attachprep-443"),
        ("https://m.example:8443", 8080, "__Host-attachprep-8443"),
        ("https://m.example/push/a%20b/", 8080, "__Host-attachprep-443-push-a-20b"), (nil, 9000, "attachprep-9000"),
    ]

    @Test(arguments: names)
    func `Services on one host name have cookies of different names`(url: String?, port: Int, name: String) {
        #expect(SessionCookie(baseURL: url, port: port).name == name)
    }

    @Test func `A service ignores the session of another port`() async throws {
        let one = try await LiveService { $0.baseURL = "http://127.0.0.1:8080" }
        let other = try await LiveService {
            $0.baseURL = "http://127.0.0.1:8081"
            $0.wrongTokensPerSecondMax = 0
        }
        let cookies = [try await begin(one).cookie, try await begin(other).cookie]
        for service in [one, other] {
            // A browser sends both to each of them.
            #expect(try await browser(service, cookies.joined(separator: "; ")).get("/v1/jobs").status == 200)
        }
        #expect(try await browser(other, cookies[0]).get("/v1/jobs").status == 401)
        #expect(try await one.caller.get("/v1/jobs").status == 200)
    }

    @Test func `A wrong token creates no session and is rate-limited`() async throws {
        let service = try await LiveService()
        let begin = { @Sendable in
            try await service.anonymous.post("/v1/session", json: #"{"token": "wrong-token-0123456789"}"#)
        }
        let first = try await begin()
        #expect(first.status == 401 && first.field("set-cookie") == nil)
        #expect(first.field("www-authenticate") == "Bearer")
        var statuses: Set<Int> = []
        for _ in 0..<40 { statuses.insert(try await begin().status) }
        #expect(statuses == [401, 429])
    }

    @Test func `Wrong tokens at the session route are rate-limited`() async throws {
        let service = try await LiveService()
        var statuses: Set<Int> = []
        for _ in 0..<40 {
            let wrong = [("Authorization", "Bearer wrong-token-0123456789")]
            statuses.insert(try await service.anonymous.get("/v1/session", wrong).status)
        }
        #expect(statuses == [401, 429])
        #expect(try await service.caller.get("/v1/session").object["authorized"] as? Bool == true)
        #expect(try await service.anonymous.get("/v1/session").status == 200)
    }

    @Test(arguments: ["{}", #"{"token": 7}"#, #"{"token": "a", "caller": "b"}"#, "[]"])
    func `A session request without exactly a token is rejected`(body: String) async throws {
        let response = try await LiveService().anonymous.post("/v1/session", json: body)
        #expect(response.status == 400 && response.code == "request.invalid")
    }

    @Test func `A session request that is too large is rejected`() async throws {
        let text = String(repeating: "a", count: Limits.sessionBytesMax)
        let response = try await LiveService().anonymous.post("/v1/session", json: #"{"token": "\#(text)"}"#)
        #expect(response.status == 413)
    }

    @Test func `A forged or extended session is rejected`() async throws {
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
            let status = try await browser(service, "__Host-attachprep-443=\(value)").get("/v1/jobs").status
            #expect(status == 401, "\(value)")
        }
    }

    @Test func `A session is valid on every machine with its token and ends with the token`() async throws {
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

    @Test func `A session expires after twelve hours`() throws {
        let tokens = try AccessTokens([LiveService.token], logger: logger)
        let start = Date(timeIntervalSince1970: 1_795_294_262)
        let field = try #require(
            SessionCookie(baseURL: nil, port: 8080).field(for: LiveService.token, tokens, at: start))
        let value = try #require(field.split(separator: ";").first).dropFirst("attachprep-8080=".count)
        let seconds = Double(Limits.sessionSecondsMax)
        #expect(SessionCookie.caller(in: value, tokens, at: start + seconds - 1) != nil)
        #expect(SessionCookie.caller(in: value, tokens, at: start + seconds) == nil)
    }

    @Test(arguments: [
        [("Sec-Fetch-Site", "same-origin")], [("Origin", "http://localhost:PORT")],
        [("Sec-Fetch-Site", "same-origin"), ("Origin", "null")],
    ])
    func `A session can change state from a same-origin page`(fields: [(String, String)]) async throws {
        let response = try await change(fields)
        #expect(response.status == 202)
    }

    @Test(arguments: [
        [], [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "none")],
        [("Origin", "http://localhost")], [("Origin", "null")], [("Origin", "http://localhost.evil.example:PORT")],
        [("Sec-Fetch-Site", "same-site"), ("Origin", "http://localhost:PORT")],
    ])
    func `A session cannot change state from another origin`(fields: [(String, String)]) async throws {
        let response = try await change(fields)
        #expect(response.status == 403 && response.code == "request.unauthorized")
    }

    private func change(_ fields: [(String, String)]) async throws -> TestHTTPClient.Response {
        let service = try await LiveService()
        let browser = browser(service, try await begin(service).cookie)
        let sent = fields.map { ($0.0, $0.1.replacingOccurrences(of: "PORT", with: "\(service.port)")) }
        return try await browser.post("/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, sent)
    }

    @Test func `A token in the request takes precedence over the cookie`() async throws {
        let service = try await LiveService()
        let cookie = try await begin(service).cookie
        let browser = browser(service, cookie)
        #expect(
            try await browser.get("/v1/jobs", [("Authorization", "Bearer wrong-0123456789012")]).status == 401)
        // For example of a reverse proxy with its own users.
        #expect(try await browser.get("/v1/jobs", [("Authorization", "Basic eDp5")]).status == 200)
        let job = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [("Cookie", cookie)])
        #expect(job.status == 202)
    }

    @Test func `Ending a session deletes its cookie`() async throws {
        let response = try await LiveService().anonymous.send("DELETE", "/v1/session")
        #expect(response.status == 200 && response.object["authorized"] as? Bool == false)
        let field = try #require(response.field("set-cookie"))
        #expect(field == "__Host-attachprep-443=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure")
    }

    @Test func `A service without tokens requires none and creates no session`() async throws {
        let service = try await LiveService(token: nil)
        let session = try await service.anonymous.get("/v1/session").object
        #expect(session["authorized"] as? Bool == true && session["required"] as? Bool == false)
        let response = try await service.anonymous.post("/v1/session", json: #"{"token": ""}"#)
        #expect(response.status == 200 && response.field("set-cookie") == nil)
    }
}
