import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

@Suite(.timeLimit(.minutes(1))) struct CallSenderTests {
    let server: LoopbackServer
    let sender: HTTPClient

    init() throws {
        server = try LoopbackServer()
        sender = try HTTPClient(networks: [AddressBlock("127.0.0.0/8")])
    }

    private func call(
        _ method: HTTPClientRequest.Method = .post, _ path: String = "/hook", body: String = "{}",
        keeping bytes: Int = 1_000,
        within time: Duration = .seconds(30)
    ) -> HTTPClientRequest {
        let headers = [(name: "Content-Type", value: "application/json")]
        return HTTPClientRequest(
            method, server.url(path), headers: headers, body: Array(body.utf8), answerBytesMax: bytes,
            deadline: .now + time)
    }

    private func failure(of call: HTTPClientRequest, _ sender: HTTPClient? = nil) async throws -> AttachPrepError {
        let sender = sender ?? self.sender
        return try #require(await #expect(throws: AttachPrepError.self) { try await sender.send(call) })
    }

    @Test func `A POST brings its body, its length and its headers, and asks nothing before`() async throws {
        server.serve("/hook", .status(204))
        let body = #"{"ü": "\#(String(repeating: "x", count: 60_000))"}"#
        #expect(try await sender.send(call(body: body)).status == 204)
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.body == Data(body.utf8))
        #expect(request.headers["content-length"] == String(body.utf8.count))
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["expect"] == nil)
        #expect(request.headers["transfer-encoding"] == nil)
    }

    @Test func `A body with zero bytes arrives whole, an empty one as an empty one`() async throws {
        server.serve("/hook", .status(204))
        var order = call()
        order.body = [1, 0, 2, 0]
        _ = try await sender.send(order)
        order.body = []
        _ = try await sender.send(order)
        #expect(server.requests.map(\.body) == [Data([1, 0, 2, 0]), Data()])
        #expect(server.requests.map { $0.headers["content-length"] } == ["4", "0"])
    }

    @Test func `No type of content is invented`() async throws {
        server.serve("/hook", .status(204))
        var order = call()
        order.headers = []
        _ = try await sender.send(order)
        #expect(server.requests.first?.headers["content-type"] == nil)
    }

    @Test(arguments: [(HTTPClientRequest.Method.get, "GET"), (.delete, "DELETE")])
    func `The other methods bring no body`(method: HTTPClientRequest.Method, name: String) async throws {
        server.serve("/hook", .status(200, [:], Data("yes".utf8)))
        let answer = try await sender.send(call(method))
        #expect(answer.body == Array("yes".utf8) && answer.isWhole)
        #expect(server.requests.map(\.method) == [name])
        #expect(server.requests.first?.headers["content-length"] == nil)
    }

    @Test(arguments: [200, 302, 307, 404, 410, 429, 500])
    func `Every status is an answer, and no redirect is followed`(status: Int) async throws {
        server.serve("/hook", .status(status, ["Location": "/elsewhere", "Retry-After": "17"], Data("why".utf8)))
        let answer = try await sender.send(call())
        #expect(answer.status == status)
        #expect(answer.head["location"] == "/elsewhere")
        #expect(answer.retryAfter == .seconds(17))
        #expect(server.requests.count == 1)
    }

    @Test func `No more of an answer is kept than was asked for`() async throws {
        server.serve("/hook", .body(Data("0123456789".utf8)))
        let answer = try await sender.send(call(keeping: 4))
        #expect(answer.body == Array("0123".utf8))
        #expect(!answer.isWhole)
        // The rest was read, so that the connection could be used again.
        _ = try await sender.send(call(keeping: 4))
        #expect(server.connectionCount == 1)
    }

    @Test func `An endless answer is cut off`() async throws {
        server.serve("/hook", .head(200).then(.sendForever(Data(count: 1_000))))
        let answer = try await sender.send(call(keeping: 100))
        #expect(answer.status == 200 && answer.body.count == 100 && !answer.isWhole)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `Endless headers are refused`() async throws {
        server.serve("/hook", .raw("HTTP/1.1 200 OK\r\n").then(.sendForever(Data("X-Y: z\r\n".utf8))))
        #expect(try await failure(of: call()).code == .downloadTooLarge)
    }

    @Test func `An answer that breaks off in its body is one, but not whole`() async throws {
        server.serve("/hook", .start(of: Data(count: 100), bytes: 10).then(.close))
        let answer = try await sender.send(call())
        #expect(answer.status == 200 && answer.body.count == 10 && !answer.isWhole)
    }

    @Test func `A receiver that never answers ends at the deadline`() async throws {
        server.serve("/hook", LoopbackAnswer([.hang]))
        let error = try await failure(of: call(within: .milliseconds(100)))
        #expect(error.code == .deadlineExceeded)
        #expect(error.message.contains("did not answer in the time given"))
    }

    @Test func `A receiver that answers and then falls silent has answered`() async throws {
        server.serve("/hook", .start(of: Data(count: 100), bytes: 10).then(.hang))
        let answer = try await sender.send(call(within: .milliseconds(500)))
        #expect(answer.status == 200 && !answer.isWhole)
    }

    @Test func `A call that nobody waits for any more is given up`() async throws {
        server.serve("/hook", LoopbackAnswer([.hang]))
        let (sender, order) = (sender, call())
        let waiting = Task { try await sender.send(order) }
        await server.until { $0.requests.count == 1 }
        waiting.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `Nobody listens`() async throws {
        let url = server.url("/hook")
        server.stop()
        await server.until { $0.openConnectionCount == 0 }
        let order = HTTPClientRequest(.post, url, answerBytesMax: 10, deadline: .now + .seconds(30))
        #expect(try await failure(of: order).code == .downloadConnect)
    }

    @Test func `What is too long to be sent is refused before anything is sent`() async throws {
        let error = try await failure(of: call(body: String(repeating: "x", count: Limits.httpRequestBodyBytesMax + 1)))
        #expect(error.code == .requestTooLarge)
        #expect(server.connectionCount == 0)
    }

    @Test func `A header that would become two is refused`() async throws {
        var order = call()
        order.headers = [("X-Note", "a\r\nX-Other: b")]
        #expect(try await failure(of: order).code == .requestInvalid)
    }

    @Test func `User info is sent as Basic authentication`() async throws {
        server.serve("/hook", .status(204))
        let url = server.url("/hook").replacing("http://", with: "http://me:secret@")
        _ = try await sender.send(HTTPClientRequest(.get, url, answerBytesMax: 10, deadline: .now + .seconds(30)))
        #expect(server.requests.first?.headers["authorization"] == "Basic bWU6c2VjcmV0")
    }

    // MARK: Connections

    @Test func `A connection is used again`() async throws {
        server.serve("/hook", .body(Data("ok".utf8)))
        for _ in 0..<3 { _ = try await sender.send(call()) }
        #expect(server.requests.map(\.connection) == [1, 1, 1])
    }

    @Test func `On a used connection that dies the body is sent again over another one`() async throws {
        server.serve("/hook", inTurn: [.body(Data("ok".utf8)), LoopbackAnswer([.close]), .status(202)])
        _ = try await sender.send(call())
        #expect(try await sender.send(call(body: "again")).status == 202)
        #expect(server.requests.map(\.body).suffix(2) == [Data("again".utf8), Data("again".utf8)])
        #expect(server.requests.map(\.connection) == [1, 1, 2])
    }

    @Test func `What must not arrive twice does not`() async throws {
        server.serve("/hook", inTurn: [.body(Data("ok".utf8)), LoopbackAnswer([.close]), .status(202)])
        var order = call()
        order.isRepeatable = false
        _ = try await sender.send(order)
        #expect(try await failure(of: order).code == .downloadConnect)
        #expect(server.requests.map(\.connection) == [1, 2])
    }
}
