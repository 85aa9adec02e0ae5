import AttachPrep
import AttachPrepModel
import AttachPrepService
import Foundation
import Logging
import MediaTypes
import TestSupport
import Testing

struct AccessTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test(arguments: ["/v1/jobs", "/v1/webhooks", "/v1/events"], ["Bearer wrong-token-0123456789", "Basic eA==", nil])
    func `A request without a valid token is rejected`(path: String, field: String?) async throws {
        let service = try await LiveService()
        let response = try await service.anonymous.get(path, field.map { [("Authorization", $0)] } ?? [])
        #expect(response.status == 401 && response.code == "request.unauthorized")
        #expect(response.field("www-authenticate") == "Bearer")
    }

    @Test(arguments: ["/healthz", "/readyz", "/openapi.json", "/"])
    func `Public routes need no token`(path: String) async throws {
        #expect(try await LiveService().anonymous.get(path).status == 200)
    }

    @Test func `Metrics need a token also from loopback, since a local proxy looks the same`() async throws {
        let service = try await LiveService()
        // nginx forwards requests like this by default: a loopback Host and no further fields.
        #expect(try await service.anonymous.get("/metrics", [("Host", "127.0.0.1:8080")]).status == 401)
        #expect(try await service.caller.get("/metrics").text == "attachprep_jobs 1\n")
        #expect(try await service.caller.get("/metrics", [("X-Forwarded-For", "192.0.2.1")]).status == 200)
    }

    @Test
    func `Clients of a metrics network need no token for metrics unless forwarded`() async throws {
        let network = try AddressBlock("127.0.0.0/8")
        let service = try await LiveService { $0.metricsNetworks = [network] }
        #expect(try await service.anonymous.get("/metrics").text == "attachprep_jobs 1\n")
        for (name, value) in [
            ("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "for=192.0.2.1"), ("Via", "1.1 a"),
            ("X-Real-IP", "192.0.2.1"), ("X-Forwarded-Proto", "https"), ("Host", "push.example"),
        ] {
            #expect(try await service.anonymous.get("/metrics", [(name, value)]).status == 401, "\(name)")
        }
        #expect(try await service.anonymous.get("/v1/jobs").status == 401)
        let otherNetwork = try AddressBlock("10.0.0.0/8")
        let other = try await LiveService { $0.metricsNetworks = [otherNetwork] }
        #expect(try await other.anonymous.get("/metrics").status == 401)
    }

    @Test func `Without tokens, metrics are for clients on this machine that no proxy forwarded`() async throws {
        let service = try await LiveService(token: nil)
        #expect(try await service.anonymous.get("/metrics").status == 200)
        #expect(try await service.anonymous.get("/metrics", [("X-Forwarded-For", "192.0.2.1")]).status == 403)
    }

    @Test func `A changed token file is reloaded, and an invalid one is ignored`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("# comment\n  first-token-0123456789\n\n", to: "tokens")
        let tokens = try AccessTokens(["literal-token-0123456789"], file: path, logger: logger)
        // Until the file is read again, the new token is a wrong one.
        let service = try await LiveService(tokens: tokens) { $0.wrongTokensPerSecondMax = 1_000 }
        let status = { @Sendable (token: String) in
            try await service.anonymous.get("/v1/jobs", [("Authorization", "Bearer \(token)")]).status
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

    @Test func `A malformed token of a file is named by its line`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("first-token-0123456789\n\n# comment\nfifteen-bytes-x\n", to: "tokens")
        let error = #expect(throws: AttachPrepError.self) { try AccessTokens(file: path, logger: logger) }
        #expect(error?.message.hasPrefix("In line 4 of \(path): A token is not 16") == true, "\(error as Any)")
        #expect(error?.description.contains("fifteen-bytes-x") == false)
    }

    @Test func `A token that is too short is rejected at the start`() throws {
        let error = #expect(throws: AttachPrepError.self) { try AccessTokens(["fifteen-bytes-x"], logger: logger) }
        #expect(error?.code == .requestInvalid)
        #expect(error?.description.contains("fifteen-bytes-x") == false)
    }

    @Test(arguments: ["0.0.0.0", "192.0.2.7", "::", "media.example"])
    func `Without tokens, the service listens only on loopback`(host: String) async throws {
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await LiveService(token: nil) { $0.host = host }
        }
        #expect(error?.message.contains("\(host) is not a loopback address") == true)
    }

    @Test(arguments: ["evil.example", "127.0.0.1.evil.example", "192.0.2.7", "localhost.evil.example:80"])
    func `Without tokens, only loopback hosts are accepted`(host: String) async throws {
        let service = try await LiveService(token: nil)
        let response = try await service.anonymous.get("/v1/jobs", [("Host", host)])
        #expect(response.status == 403 && response.code == "request.unauthorized")
        #expect(try await service.anonymous.get("/v1/jobs", [("Host", "[::1]:8080")]).status == 200)
        #expect(try await service.anonymous.get("/v1/jobs", [("Host", "127.0.0.1")]).status == 200)
    }

    @Test(arguments: [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site"), ("Origin", "null")])
    func `Without tokens, cross-site requests are rejected`(name: String, value: String) async throws {
        let service = try await LiveService(token: nil)
        let response = try await service.anonymous.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [(name, value)])
        #expect(response.status == 403)
        #expect(service.store.state.withLock(\.jobs).isEmpty)
        #expect(try await service.anonymous.get("/v1/jobs", [("Sec-Fetch-Site", "none")]).status == 200)
    }

    @Test func `Requests are rate-limited per token`() async throws {
        let tokens = try AccessTokens(["one-token-0123456789", "two-token-0123456789"], logger: logger)
        let service = try await LiveService(tokens: tokens) { $0.requestsPerSecondMax = 0.001 }
        let send = { (name: String) in
            try await service.anonymous.get("/v1/jobs", [("Authorization", "Bearer \(name)-token-0123456789")])
        }
        #expect(try await send("one").status == 200)
        let response = try await send("one")
        #expect(response.status == 429 && response.code == "request.rate_limited")
        #expect(response.field("retry-after").flatMap { Int($0) } ?? 0 > 500)
        #expect(try await send("two").status == 200)
    }

    @Test func `Wrong tokens are rate-limited per address, valid ones are not affected`() async throws {
        let service = try await LiveService()
        var statuses: Set<Int> = []
        for _ in 0..<40 {
            statuses.insert(
                try await service.anonymous.get("/v1/jobs", [("Authorization", "Bearer wrong-0123456789012")])
                    .status)
        }
        #expect(statuses == [401, 429])
        #expect(try await service.caller.get("/v1/jobs").status == 200)
    }
}
