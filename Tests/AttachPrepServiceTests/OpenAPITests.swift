import AttachPrepJobs
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

/// `openapi.json` describes the routes. When a test fails, change the document.
struct OpenAPITests {
    @Test func `The document is served unchanged`() async throws {
        let response = try await LiveService().anonymous.get("/openapi.json")
        #expect(response.status == 200 && response.field("content-type") == "application/json")
        #expect(response.body == Array(try OpenAPIFile().bytes))
    }

    /// The copy that the documentation site serves and clients are generated from.
    @Test func `The copy in docs is the served document`() async throws {
        let copy = try Data(contentsOf: URL(fileURLWithPath: SourceTree.path("docs/openapi.json")))
        let served = try await LiveService().anonymous.get("/openapi.json").body
        #expect(Array(copy) == served, "run `make docs-update` and commit docs/openapi.json")
    }

    @Test func `Each route has an operation, and each operation a route`() async throws {
        let described = Set(try OpenAPIFile().operations().map { "\($0.method) \($0.path)" })
        let routed = Set(
            try await LiveService().service.endpoints.flatMap { endpoint in
                let methods = endpoint.method == .get ? ["GET", "HEAD"] : [endpoint.method.rawValue]
                return methods.map { "\($0) \(endpoint.path)" }
            })
        #expect(described == routed)
    }

    @Test func `Operations have unique ids`() throws {
        let ids = try OpenAPIFile().operations().map(\.id)
        #expect(!ids.contains("") && Set(ids).count == ids.count)
    }

    @Test func `An operation has the access, parameters, media type and errors of its route`() async throws {
        let document = try OpenAPIFile()
        let operations = try document.operations()
        for endpoint in try await LiveService().service.endpoints {
            let operation = try #require(
                operations.first { $0.method == endpoint.method.rawValue && $0.path == endpoint.path })
            let name = Comment(rawValue: "\(operation.method) \(operation.path)")
            #expect(Self.access(to: operation) == endpoint.access, name)
            if let query = endpoint.query {
                #expect(try document.parameters(of: operation, in: "query") == query, name)
            }
            let placeholders = Set(endpoint.path.matches(of: /{([a-z]+)}/).map { String($0.1) })
            #expect(try document.parameters(of: operation, in: "path") == placeholders, name)
            let responses = try #require(operation.object["responses"] as? [String: [String: Any]], name)
            if let type = endpoint.produces?.prefix(while: { $0 != ";" }) {
                let contents = responses.filter { $0.key.hasPrefix("2") }.compactMap { $0.value["content"] }
                #expect(contents.contains { ($0 as? [String: Any])?[String(type)] != nil }, name)
            }
            var statuses: Set = ["400", "431", "500", "503"]
            if endpoint.access != .anyone { statuses.formUnion(["401", "403", "429"]) }
            if endpoint.produces == JSONResponse.mediaType { statuses.insert("406") }
            #expect(statuses.isSubset(of: responses.keys), name)
        }
    }

    private static func access(to operation: OpenAPIFile.Operation) -> Endpoint.Access {
        guard let schemes = operation.object["security"] as? [[String: Any]] else { return .callers }
        return schemes.isEmpty ? .anyone : .scrapers
    }

    @Test func `A HEAD operation is its GET without bodies`() throws {
        let document = try OpenAPIFile()
        let operations = try document.operations()
        let gets = operations.filter { $0.method == "GET" }
        #expect(!gets.isEmpty)
        for get in gets {
            let head = try #require(operations.first { $0.method == "HEAD" && $0.path == get.path })
            var expected = get.object
            expected["operationId"] = "\(get.id)Head"
            expected["summary"] = "\(get.object["summary"] ?? ""), without the body"
            let responses = try #require(get.object["responses"] as? [String: [String: Any]])
            expected["responses"] = try responses.mapValues { response in
                var response = response
                if response["$ref"] != nil {
                    let whole = try #require(try document.resolved(response) as? [String: Any])
                    response = ["description": whole["description"] ?? ""]
                }
                response["content"] = nil
                return response
            }
            #expect(NSDictionary(dictionary: head.object).isEqual(to: expected), "\(get.path)")
        }
    }

    // Issue 19, item 7.
    @Test func `Each event is described as a webhook, and as a callback of each operation with a callbackURL`() throws {
        let document = try OpenAPIFile()
        #expect(Set(try document.object("/webhooks").keys) == Set(WebhookNotice.Event.allCases.map(\.rawValue)))
        let callback = "callbacks/jobEnded/{$request.body#~1"
        let pointers = [
            "/paths/~1v1~1jobs/post/\(callback)callbackURL}/post",
            "/paths/~1v1~1payloads/post/\(callback)request~1callbackURL}/post",
        ]
        for pointer in pointers {
            var expected = try document.object(pointer)
            #expect(expected["requestBody"] != nil)
            for event in WebhookNotice.Event.allCases where event != .batchDone {
                let webhook = try document.object("/webhooks/\(event.rawValue)/post")
                expected["summary"] = webhook["summary"]
                #expect(NSDictionary(dictionary: webhook).isEqual(to: expected), "\(event)")
            }
        }
    }

    @Test func `The request of a payload has the members of a job's request, without a source`() throws {
        let document = try OpenAPIFile()
        var members = try document.object("/components/schemas/AttachmentRequest/properties")
        members["source"] = nil
        let request = try document.object("/components/schemas/PayloadSubmission/properties/request/properties")
        #expect(NSDictionary(dictionary: request).isEqual(to: members))
    }

    private let callbackURLPattern = "/components/schemas/AttachmentRequest/properties/callbackURL/pattern"

    // Issue 19, item 8.
    @Test(arguments: [
        "https://hooks.example.org/push", "HTTPS://Hooks.Example.ORG", "http://10.2.0.1:65535/a?b=c#d",
        "http://[2001:db8::7]:8080/", "http://[::1]", "http://[::ffff:127.0.0.1]/", "http://user:pass@a.example/x",
        "https://a.example?x=1", "http://a-b.c_d.example:10000",
    ])
    func `A callbackURL that the service accepts matches the pattern`(url: String) async throws {
        #expect(try OpenAPIFile().pattern(callbackURLPattern, matches: url))
        let service = try await LiveService()
        let response = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png", "callbackURL": "\#(url)"}"#)
        #expect(response.status == 202, "\(response.text)")
    }

    @Test(arguments: [
        "ftp://a.example", "http://", "http://a.example:0", "http://a.example:65536", "http://[::1", "http://[1:2]",
        "http://a b", "http://[::1::]",
    ])
    func `A callbackURL that the service rejects does not match the pattern`(url: String) async throws {
        #expect(!(try OpenAPIFile().pattern(callbackURLPattern, matches: url)))
        let service = try await LiveService()
        let response = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png", "callbackURL": "\#(url)"}"#)
        #expect(response.status == 400, "\(response.text)")
    }

    @Test func `Each reference has a component, and each component a reference`() throws {
        let document = try OpenAPIFile()
        let text = String(decoding: document.bytes, as: UTF8.self)
        let references = Set(
            text.components(separatedBy: "\"#/").dropFirst().compactMap {
                $0.split(separator: "\"").first.map(String.init)
            })
        var components: Set<String> = []
        for kind in ["parameters", "headers", "responses", "schemas"] {
            components.formUnion(try document.object("/components/\(kind)").keys.map { "components/\(kind)/\($0)" })
        }
        #expect(references == components)
    }

    @Test func `Each error code has a unique title`() {
        #expect(Set(ErrorCode.allCases.map(\.title)).count == ErrorCode.allCases.count)
    }
}
