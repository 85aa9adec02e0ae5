import Foundation
import MediaTypes
import SafeArithmetic
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

@Suite(.timeLimit(.minutes(1))) struct HTTPClientTests {
    let server: LoopbackServer
    let client: HTTPClient

    init() throws {
        server = try LoopbackServer()
        client = try HTTPClient(networks: [AddressBlock("127.0.0.0/8")])
    }

    private func call(
        _ method: HTTPClientRequest.Method = .post, _ path: String = "/hook", body: String = "{}",
        keeping bytes: Int = 1_000,
        within time: Duration = .seconds(30)
    ) -> HTTPClientRequest {
        let headers = [(name: "Content-Type", value: "application/json")]
        return HTTPClientRequest(
            method, server.url(path), headers: headers, body: Array(body.utf8), responseBytesMax: bytes,
            deadline: .now + time)
    }

    private func failure(of call: HTTPClientRequest, _ client: HTTPClient? = nil) async throws -> AttachPrepError {
        let client = client ?? self.client
        return try #require(await #expect(throws: AttachPrepError.self) { try await client.send(call) })
    }

    @Test func `A POST sends body, length and headers, without Expect or Transfer-Encoding`() async throws {
        server.serve("/hook", .status(204))
        let body = #"{"ü": "\#(String(repeating: "x", count: 60_000))"}"#
        #expect(try await client.send(call(body: body)).status == 204)
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.body == Data(body.utf8))
        #expect(request.headers["content-length"] == String(body.utf8.count))
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["expect"] == nil)
        #expect(request.headers["transfer-encoding"] == nil)
    }

    @Test func `A body with zero bytes arrives complete, and an empty body has length 0`() async throws {
        server.serve("/hook", .status(204))
        var request = call()
        request.body = [1, 0, 2, 0]
        _ = try await client.send(request)
        request.body = []
        _ = try await client.send(request)
        #expect(server.requests.map(\.body) == [Data([1, 0, 2, 0]), Data()])
        #expect(server.requests.map { $0.headers["content-length"] } == ["4", "0"])
    }

    @Test func `No Content-Type is added`() async throws {
        server.serve("/hook", .status(204))
        var request = call()
        request.headers = []
        _ = try await client.send(request)
        #expect(server.requests.first?.headers["content-type"] == nil)
    }

    @Test(arguments: [(HTTPClientRequest.Method.get, "GET"), (.delete, "DELETE")])
    func `GET and DELETE send no body`(method: HTTPClientRequest.Method, name: String) async throws {
        server.serve("/hook", .status(200, [:], Data("yes".utf8)))
        let response = try await client.send(call(method))
        #expect(response.body == Array("yes".utf8) && response.isWhole)
        #expect(server.requests.map(\.method) == [name])
        #expect(server.requests.first?.headers["content-length"] == nil)
    }

    @Test(arguments: [200, 302, 307, 404, 410, 429, 500])
    func `Every status is returned, and redirects are not followed`(status: Int) async throws {
        server.serve("/hook", .status(status, ["Location": "/elsewhere", "Retry-After": "17"], Data("why".utf8)))
        let response = try await client.send(call())
        #expect(response.status == status)
        #expect(response.head["location"] == "/elsewhere")
        #expect(response.retryAfter == .seconds(17))
        #expect(server.requests.count == 1)
    }

    @Test func `A response body is truncated at the requested size, and its connection is reused`() async throws {
        server.serve("/hook", .body(Data("0123456789".utf8)))
        let response = try await client.send(call(keeping: 4))
        #expect(response.body == Array("0123".utf8))
        #expect(!response.isWhole)
        // The rest was read, so that the connection could be reused.
        _ = try await client.send(call(keeping: 4))
        #expect(server.connectionCount == 1)
    }

    @Test func `An endless response is cut off`() async throws {
        server.serve("/hook", .head(200).then(.sendForever(Data(count: 1_000))))
        let response = try await client.send(call(keeping: 100))
        #expect(response.status == 200 && response.body.count == 100 && !response.isWhole)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `Endless headers are rejected`() async throws {
        server.serve("/hook", .raw("HTTP/1.1 200 OK\r\n").then(.sendForever(Data("X-Y: z\r\n".utf8))))
        let error = try await failure(of: call())
        #expect(error.code == .downloadTooLarge && error.message.contains("the longest in X-Y;"), "\(error.message)")
    }

    @Test func `A response that breaks off in its body is returned as incomplete`() async throws {
        server.serve("/hook", .start(of: Data(count: 100), bytes: 10).then(.close))
        let response = try await client.send(call())
        #expect(response.status == 200 && response.body.count == 10 && !response.isWhole)
    }

    @Test func `A server that never responds fails at the deadline`() async throws {
        server.serve("/hook", LoopbackResponse([.hang]))
        let error = try await failure(of: call(within: .milliseconds(100)))
        #expect(error.code == .deadlineExceeded)
        #expect(error.message.contains("did not answer in the time given"))
    }

    @Test func `A response that stalls in its body is returned as incomplete`() async throws {
        server.serve("/hook", .start(of: Data(count: 100), bytes: 10).then(.hang))
        let response = try await client.send(call(within: .milliseconds(500)))
        #expect(response.status == 200 && !response.isWhole)
    }

    @Test func `A cancelled request closes its connection`() async throws {
        server.serve("/hook", LoopbackResponse([.hang]))
        let (client, request) = (client, call())
        let waiting = Task { try await client.send(request) }
        await server.until { $0.requests.count == 1 }
        waiting.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A refused connection has its own error code`() async throws {
        let url = server.url("/hook")
        server.stop()
        await server.until { $0.openConnectionCount == 0 }
        let request = HTTPClientRequest(.post, url, responseBytesMax: 10, deadline: .now + .seconds(30))
        #expect(try await failure(of: request).code == .downloadConnect)
    }

    @Test func `A body over the limit is rejected before anything is sent`() async throws {
        let error = try await failure(of: call(body: String(repeating: "x", count: Limits.httpRequestBodyBytesMax + 1)))
        #expect(error.code == .requestTooLarge)
        #expect(server.connectionCount == 0)
    }

    @Test func `A header with a line break is rejected`() async throws {
        var request = call()
        request.headers = [("X-Note", "a\r\nX-Other: b")]
        #expect(try await failure(of: request).code == .requestInvalid)
    }

    @Test func `User info is sent as Basic authentication`() async throws {
        server.serve("/hook", .status(204))
        let url = server.url("/hook").replacing("http://", with: "http://me:secret@")
        _ = try await client.send(HTTPClientRequest(.get, url, responseBytesMax: 10, deadline: .now + .seconds(30)))
        #expect(server.requests.first?.headers["authorization"] == "Basic bWU6c2VjcmV0")
    }

    // MARK: Connections

    @Test func `A connection is reused`() async throws {
        server.serve("/hook", .body(Data("ok".utf8)))
        for _ in 0..<3 { _ = try await client.send(call()) }
        #expect(server.requests.map(\.connection) == [1, 1, 1])
    }

    @Test func `A request on a reused connection that breaks is sent again on a new one`() async throws {
        server.serve("/hook", inTurn: [.body(Data("ok".utf8)), LoopbackResponse([.close]), .status(202)])
        _ = try await client.send(call())
        #expect(try await client.send(call(body: "again")).status == 202)
        #expect(server.requests.map(\.body).suffix(2) == [Data("again".utf8), Data("again".utf8)])
        #expect(server.requests.map(\.connection) == [1, 1, 2])
    }

    @Test func `A request that is not repeatable is not sent again`() async throws {
        server.serve("/hook", inTurn: [.body(Data("ok".utf8)), LoopbackResponse([.close]), .status(202)])
        var request = call()
        request.isRepeatable = false
        _ = try await client.send(request)
        #expect(try await failure(of: request).code == .downloadConnect)
        #expect(server.requests.map(\.connection) == [1, 2])
    }
}
