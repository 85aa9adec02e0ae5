import AttachPrepModel
import AttachPrepService
import Foundation
import Logging
import RichPush
import TestSupport
import Testing

struct AccessTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test(arguments: ["/v1/jobs", "/v1/webhooks", "/v1/events"], ["Bearer wrong-token-0123456789", "Basic eA==", nil])
    func `without one of the tokens nobody gets in`(path: String, field: String?) async throws {
        let service = try await LiveService()
        let answer = try await service.stranger.get(path, field.map { [("Authorization", $0)] } ?? [])
        #expect(answer.status == 401 && answer.code == "request.unauthorized")
        #expect(answer.field("www-authenticate") == "Bearer")
    }

    @Test(arguments: ["/healthz", "/readyz", "/openapi.json", "/"])
    func `what is open needs no token`(path: String) async throws {
        #expect(try await LiveService().stranger.get(path).status == 200)
    }

    @Test func `Metrics need a token from this machine too: a local proxy cannot be told from a caller`() async throws {
        let service = try await LiveService()
        // What nginx sends for others unless it is told otherwise: a loopback Host, and nothing else.
        #expect(try await service.stranger.get("/metrics", [("Host", "127.0.0.1:8080")]).status == 401)
        #expect(try await service.caller.get("/metrics").text == "attachprep_jobs 1\n")
        #expect(try await service.caller.get("/metrics", [("X-Forwarded-For", "192.0.2.1")]).status == 200)
    }

    @Test func `With the setting for it, this machine needs no token for metrics, unless it forwards`() async throws {
        let service = try await LiveService { $0.showsMetricsToLoopback = true }
        #expect(try await service.stranger.get("/metrics").text == "attachprep_jobs 1\n")
        for (name, value) in [
            ("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "for=192.0.2.1"), ("Via", "1.1 a"),
            ("X-Real-IP", "192.0.2.1"), ("X-Forwarded-Proto", "https"), ("Host", "push.example"),
        ] {
            #expect(try await service.stranger.get("/metrics", [(name, value)]).status == 401, "\(name)")
        }
        #expect(try await service.stranger.get("/v1/jobs").status == 401)
    }

    @Test func `a token file that changes is read again, and a broken one changes nothing`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("# ours\n  first-token-0123456789\n\n", to: "tokens")
        let tokens = try AccessTokens(["literal-token-0123456789"], file: path, logger: logger)
        // Until the file is read again, the new token is a wrong one.
        let service = try await LiveService(tokens: tokens) { $0.wrongTokensPerSecondMax = 1_000 }
        let status = { @Sendable (token: String) in
            try await service.stranger.get("/v1/jobs", [("Authorization", "Bearer \(token)")]).status
        }
        #expect(try await status("first-token-0123456789") == 200)
        #expect(try await status("literal-token-0123456789") == 200)
        try folder.write("second-token-0123456789\n", to: "tokens")
        try await pollUntil("the new token is known") { try await status("second-token-0123456789") == 200 }
        #expect(try await status("first-token-0123456789") == 401)
        try folder.write("short\n", to: "tokens")
        tokens.reload()
        #expect(try await status("second-token-0123456789") == 200)
    }

    @Test func `a token that can be guessed is refused at the start`() throws {
        let error = #expect(throws: AttachPrepError.self) { try AccessTokens(["fifteen-bytes-x"], logger: logger) }
        #expect(error?.code == .requestInvalid)
        #expect(error?.description.contains("fifteen-bytes-x") == false)
    }

    @Test(arguments: ["0.0.0.0", "192.0.2.7", "::", "media.example"])
    func `without tokens it does not listen for other machines`(host: String) async throws {
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await LiveService(token: nil) { $0.host = host }
        }
        #expect(error?.message.contains("--host \(host)") == true)
    }

    @Test(arguments: ["evil.example", "127.0.0.1.evil.example", "192.0.2.7", "localhost.evil.example:80"])
    func `without tokens only names of this machine are answered to`(host: String) async throws {
        let service = try await LiveService(token: nil)
        let answer = try await service.stranger.get("/v1/jobs", [("Host", host)])
        #expect(answer.status == 403 && answer.code == "request.unauthorized")
        #expect(try await service.stranger.get("/v1/jobs", [("Host", "[::1]:8080")]).status == 200)
        #expect(try await service.stranger.get("/v1/jobs", [("Host", "127.0.0.1")]).status == 200)
    }

    @Test(arguments: [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site"), ("Origin", "null")])
    func `without tokens web pages of other sites are kept out`(name: String, value: String) async throws {
        let service = try await LiveService(token: nil)
        let answer = try await service.stranger.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [(name, value)])
        #expect(answer.status == 403)
        #expect(service.store.state.withLock(\.jobs).isEmpty)
        #expect(try await service.stranger.get("/v1/jobs", [("Sec-Fetch-Site", "none")]).status == 200)
    }

    @Test func `too many requests of a token are told so at once, and others are not`() async throws {
        let tokens = try AccessTokens(["one-token-0123456789", "two-token-0123456789"], logger: logger)
        let service = try await LiveService(tokens: tokens) { $0.requestsPerSecondMax = 0.001 }
        let send = { (name: String) in
            try await service.stranger.get("/v1/jobs", [("Authorization", "Bearer \(name)-token-0123456789")])
        }
        #expect(try await send("one").status == 200)
        let answer = try await send("one")
        #expect(answer.status == 429 && answer.code == "request.rate_limited")
        #expect(answer.field("retry-after").flatMap { Int($0) } ?? 0 > 500)
        #expect(try await send("two").status == 200)
    }

    @Test func `wrong tokens are limited by their address, right ones pass all the same`() async throws {
        let service = try await LiveService()
        var statuses: Set<Int> = []
        for _ in 0..<40 {
            statuses.insert(
                try await service.stranger.get("/v1/jobs", [("Authorization", "Bearer wrong-0123456789012")]).status)
        }
        #expect(statuses == [401, 429])
        #expect(try await service.caller.get("/v1/jobs").status == 200)
    }
}
