import AttachPrepJobs
import Foundation
import RichPush
import Testing

@testable import AttachPrepService

struct OpenAPITests {
    private func document() async throws -> (service: LiveService, object: [String: Any]) {
        let service = try await LiveService()
        let answer = try await service.stranger.get("/openapi.json")
        #expect(answer.field("content-type") == "application/json")
        return (service, answer.object)
    }

    @Test func `each route has its operation, and each operation its route`() async throws {
        let (service, object) = try await document()
        let paths = try #require(object["paths"] as? [String: [String: Any]])
        let described = Set(paths.flatMap { path, item in item.keys.map { "\($0.uppercased()) \(path)" } })
        let routed = Set(
            service.service.endpoints.flatMap { endpoint in
                let methods = endpoint.method == .get ? ["GET", "HEAD"] : [endpoint.method.rawValue]
                return methods.map { "\($0) \(endpoint.path)" }
            })
        #expect(described == routed)
    }

    @Test func `operations have names of their own and describe their problems`() async throws {
        let paths = try #require(try await document().object["paths"] as? [String: [String: [String: Any]]])
        let operations = paths.values.flatMap(\.values)
        let names = operations.compactMap { $0["operationId"] as? String }
        #expect(names.count == operations.count && Set(names).count == names.count)
        #expect(operations.allSatisfy { ($0["responses"] as? [String: Any])?["400"] != nil })
    }

    // Issue 19, item 7.
    @Test func `what is sent to callers is described, as webhooks and as callbacks`() async throws {
        let object = try await document().object
        let webhooks = try #require(object["webhooks"] as? [String: [String: Any]])
        #expect(Set(webhooks.keys) == Set(WebhookNotice.Event.allCases.map(\.rawValue)))
        #expect(webhooks.values.allSatisfy { ($0["post"] as? [String: Any])?["requestBody"] != nil })
        let paths = try #require(object["paths"] as? [String: [String: [String: Any]]])
        for (path, place) in [("/v1/jobs", "/callbackURL"), ("/v1/payloads", "/request/callbackURL")] {
            let callbacks = try #require(paths[path]?["post"]?["callbacks"] as? [String: [String: Any]])
            #expect(callbacks["jobEnded"]?["{$request.body#\(place)}"] != nil)
        }
    }

    // Issue 19, item 8.
    @Test(arguments: [
        "https://hooks.example.org/push", "HTTPS://Hooks.Example.ORG", "http://10.2.0.1:65535/a?b=c#d",
        "http://[2001:db8::7]:8080/", "http://[::1]", "http://[::ffff:127.0.0.1]/", "http://user:pass@a.example/x",
        "https://a.example?x=1", "http://a-b.c_d.example:10000",
    ])
    func `a callbackURL that the service takes fits its pattern`(url: String) async throws {
        #expect(try Regex(CallbackURLPattern.text).wholeMatch(in: url) != nil)
        let service = try await LiveService()
        let answer = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png", "callbackURL": "\#(url)"}"#)
        #expect(answer.status == 202, "\(answer.text)")
    }

    @Test(arguments: [
        "ftp://a.example", "http://", "http://a.example:0", "http://a.example:65536", "http://[::1", "http://[1:2]",
        "http://a b", "http://[::1::]",
    ])
    func `a callbackURL that the service refuses does not fit it`(url: String) async throws {
        #expect(try Regex(CallbackURLPattern.text).wholeMatch(in: url) == nil)
        let service = try await LiveService()
        let answer = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png", "callbackURL": "\#(url)"}"#)
        #expect(answer.status == 400, "\(answer.text)")
    }

    @Test func `the codes are those of the contract`() async throws {
        let components = try #require(try await document().object["components"] as? [String: Any])
        let schemas = try #require(components["schemas"] as? [String: [String: Any]])
        let codes = try #require(schemas["ErrorCode"]?["enum"] as? [String])
        #expect(Set(codes) == Set(ErrorCode.allCases.map(\.rawValue)))
    }

    @Test func `what is referred to is there`() async throws {
        let (service, object) = try await document()
        let text = try await service.stranger.get("/openapi.json").text
        let names = Set(text.components(separatedBy: "\"#/").dropFirst().compactMap { $0.split(separator: "\"").first })
        #expect(names.count > 30)
        for name in names {
            var place: Any? = object
            for part in name.split(separator: "/") { place = (place as? [String: Any])?[String(part)] }
            #expect(place != nil, "\(name)")
        }
    }

    @Test func `each code has a title of its own`() {
        #expect(Set(ErrorCode.allCases.map(\.title)).count == ErrorCode.allCases.count)
    }
}
