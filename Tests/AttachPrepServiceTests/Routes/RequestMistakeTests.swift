import AttachPrepModel
import Foundation
import MediaTypes
import Testing

@testable import AttachPrepService

/// Mistakes that people make in requests: the message alone says what to write instead.
struct RequestMistakeTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        let body: String
        var type = "application/json"
        var fields: [(String, String)] = []
        /// The whole message, without the list of known keys.
        let message: String
        /// The request as the message says that it should be, which is accepted.
        let mended: String
        var mendedType = "application/json"
        var encoding = String.Encoding.utf8
        var status = 400

        var testDescription: String { body }
    }

    private static let lines = "application/x-ndjson"
    private static let source = #"{"source": "https://a.example/1.png"}"#

    private static func options(_ options: String) -> String {
        #"{"source": "https://a.example/1.png", "options": {\#(options)}}"#
    }

    private static func keys(_ keys: String) -> String { #"{"source": "https://a.example/1.png", \#(keys)}"# }

    static let mistakes: [Mistake] = [
        Mistake(
            body: "{'source': 'https://a.example/1.png'}",
            message: "The request has a key in single quotes at line 1, column 2; use double quotes.", mended: source),
        Mistake(
            body: "{\"source\": \"https://a.example/1.png\"\n \"id\": \"a\"}",
            message: "The request has neither a comma nor } at line 2, column 2; write one of them.",
            mended: "{\"source\": \"https://a.example/1.png\",\n \"id\": \"a\"}"),
        Mistake(
            body: "{\"source\": \"https://a.example/1.png\"",
            message: "The request is truncated at line 1, column 37; send all of it.", mended: source),
        Mistake(
            body: #"{"source": "https://a.example/é.png"}"#,
            message: "The request has a byte that is not UTF-8 at line 1, column 31; save it as UTF-8.",
            mended: #"{"source": "https://a.example/é.png"}"#, encoding: .isoLatin1),
        Mistake(
            body: source, message: "The request is UTF-16 or UTF-32; send it as UTF-8.", mended: source,
            encoding: .utf16LittleEndian),
        Mistake(
            body: "\(source)\n\(source)\n",
            message: "The request has data after its end at line 2, column 1; send exactly one value. Several objects, "
                + "one a line, are sent as application/x-ndjson.",
            mended: "\(source)\n\(source)\n", mendedType: lines),
        Mistake(
            body: "[\(source), \(source)]",
            message: "The request is an array; send one object, or several as application/x-ndjson: each on a line of "
                + "its own, without brackets and commas.",
            mended: "\(source)\n\(source)\n", mendedType: lines),
        Mistake(
            body: #""{\"source\": \"https://a.example/1.png\"}""#,
            message: "The request is a string; the JSON was encoded twice, so send the object itself.", mended: source),
        Mistake(
            body: "source=https://a.example/1.png",
            message: #"The request has the word "source" at line 1, column 1; write a string, a number, an object, an "#
                + #"array, true, false or null. It looks like a form; send an object such as {"source": "#
                + #""https://cdn.example/photo.jpg"}."#, mended: source),
        Mistake(
            body: "source=https://a.example/1.png", type: "application/x-www-form-urlencoded",
            message: "The body must be application/json with one request, or application/x-ndjson with one request a "
                + #"line, not "application/x-www-form-urlencoded". curl sends that type unless it gets -H "#
                + "'Content-Type: application/json'.", mended: source, status: 415),
        Mistake(
            body: "{\n  \"source\": \"https://a.example/1.png\"\n}\n", type: lines,
            message: "3 of 3 lines are invalid, so no job was created; \"errors\" lists them by line.", mended: source),
        Mistake(
            body: "\(source),\n\(source)", type: lines,
            message: "1 of 2 lines are invalid, so no job was created; \"errors\" lists them by line.",
            mended: "\(source)\n\(source)", mendedType: lines),
        Mistake(
            body: #"{"url": "https://a.example/1.png"}"#,
            message: #"The request has the unknown key "url"; the source is the key "source"."#, mended: source),
        Mistake(
            body: "https://a.example/1.png",
            message: #"The request has the word "https" at line 1, column 1; write a string, a number, an object, an "#
                + #"array, true, false or null. It looks like a URL; send an object such as {"source": "#
                + #""https://cdn.example/photo.jpg"}."#, mended: source),
        Mistake(
            body: options(#""crop": {"x": 0, "y": 0, "w": 1, "h": 1}"#),
            message: #"The request has the unknown key "options.crop.h"; the key is "height"."#,
            mended: options(#""crop": {"x": 0, "y": 0, "width": 1, "height": 1}"#)),
        Mistake(
            body: "{“source”: “https://a.example/1.png”}",
            message: "The request has a curly quote at line 1, column 2; use straight double quotes.", mended: source),
        Mistake(
            body: keys(#""seal": True"#),
            message: #"The request has the word "True" at line 1, column 47; write true."#,
            mended: keys(#""seal": true"#)),
        Mistake(
            body: keys(#""notAfter": 1795294262"#),
            message: #"The request's "notAfter" must be an RFC 3339 time such as "2026-11-21T20:51:02Z", not the "#
                + "number 1795294262.",
            mended: keys(#""notAfter": "2026-11-21T20:51:02Z""#)),
        Mistake(
            body: keys(#""maxAttempts": 9"#),
            message: #"The request has the unknown key "maxAttempts"; it belongs in "retry", as "attempts"."#,
            mended: keys(#""retry": {"attempts": 9}"#)),
        Mistake(
            body: "{}", message: #"The request lacks the required key "source"."#, mended: source),
        Mistake(
            body: keys(#""maxBytes": "300000""#),
            message: #"The request's "maxBytes" must be a whole number, not the string "300000"."#,
            mended: keys(#""maxBytes": 300000"#)),
        Mistake(
            body: keys(#""maxBytes": 3.5"#),
            message: #"The request's "maxBytes" must be a whole number of at most 64 bits, not the number 3.5."#,
            mended: keys(#""maxBytes": 3"#)),
        Mistake(
            body: keys(#""priority": "hihg""#),
            message:
                #"The request's "priority" must be one of high, normal, bulk, not the string "hihg"; did you mean "#
                + #""high"?"#,
            mended: keys(#""priority": "high""#)),
        Mistake(
            body: keys(#""callback_url": "https://b.example/hook""#),
            message: #"The request has the unknown key "callback_url"; did you mean "callbackURL"?"#,
            mended: keys(#""callbackURL": "https://b.example/hook""#)),
        Mistake(
            body: keys(#""thumbnailTime": 1"#),
            message: #"The request has the unknown key "thumbnailTime"; it belongs in "options"."#,
            mended: options(#""thumbnailTime": 1"#)),
        Mistake(
            body: options(#""rendition": "display""#),
            message: #"The request has the unknown key "options.rendition"; it belongs beside "options", not in it."#,
            mended: keys(#""rendition": "display""#)),
        Mistake(
            body: options(#""thumbnailSize": {"width": 300, "hieght": 300}"#),
            message: #"The request has the unknown key "options.thumbnailSize.hieght"; did you mean "height"?"#,
            mended: options(#""thumbnailSize": {"width": 300, "height": 300}"#)),
        Mistake(
            body: options(#""thumbnailSize": {"width": 300}"#),
            message: #"The request's "options.thumbnailSize" lacks the required key "height"."#,
            mended: options(#""thumbnailSize": {"width": 300, "height": 300}"#)),
        Mistake(
            body: keys(#""headers": {"X-Level": 5}"#),
            message: #"The request's "headers.X-Level" must be a string, not the number 5."#,
            mended: keys(#""headers": {"X-Level": "5"}"#)),
        Mistake(
            body: options(#""crop": [0, 0, 1, 1]"#),
            message:
                #"The request's "options.crop" must be smart, smart:16:9 or an object with x, y, width and height, "#
                + "not an array.",
            mended: options(#""crop": {"x": 0, "y": 0, "width": 1, "height": 1}"#)),
        Mistake(
            body: keys(#""notBefore": "2026-11-21 20:51""#),
            message:
                #"The request's "notBefore" must be an RFC 3339 time with an offset, such as 2026-11-21T20:51:02Z, "#
                + #"not "2026-11-21 20:51"."#,
            mended: keys(#""notBefore": "2026-11-21T20:51:00Z""#)),
        Mistake(
            body: "\(source)\n\(source)\n", type: lines, fields: [("Prefer", "wait=20")],
            message: "Prefer: wait is for one request as application/json; submit the batch without it, then wait for "
                + "each job by GET /v1/jobs/{id}, or for its webhook.",
            mended: "\(source)\n\(source)\n", mendedType: lines, status: 422),
        Mistake(
            body: source, fields: [("Prefer", "wait=20s")],
            message: "The wait of the Prefer header must be whole seconds without a unit, such as wait=20, not "
                + #""20s"."#, mended: source),
    ]

    @Test(arguments: mistakes) func `A mistake is mended by its message alone`(mistake: Mistake) async throws {
        let service = try await LiveService()
        let body = try #require(mistake.body.data(using: mistake.encoding))
        let rejected = try await service.caller.send(
            "POST", "/v1/jobs", [("Content-Type", mistake.type)] + mistake.fields, body: Array(body))
        #expect(rejected.detail == mistake.message)
        #expect(rejected.status == mistake.status)
        let accepted = try await service.caller.post("/v1/jobs", json: mistake.mended, type: mistake.mendedType)
        #expect(accepted.status == 202, "\(accepted.text)")
    }

    @Test func `Lines of a batch are named by their number, each with its mistake`() async throws {
        let service = try await LiveService()
        let pretty = "{\n  \"source\": \"https://a.example/1.png\"\n}\n"
        let rejected = try await service.caller.post("/v1/jobs", json: pretty, type: Self.lines)
        let errors = try #require(rejected.object["errors"] as? [[String: Any]])
        let details = errors.compactMap { $0["detail"] as? String }
        #expect(
            details.first
                == "The request is truncated at line 1, column 2; send all of it. In JSON Lines, each line is "
                + "one whole object, without a comma after it.")
        #expect(errors.map { $0["line"] as? Int } == [1, 2, 3])
    }

    @Test(arguments: [
        (
            #"{"states": ["faild"]}"#,
            #"The body's "states[0]" must be one of queued, running, succeeded, failed, dead, "#
                + #"cancelled, not the string "faild"; did you mean "failed"?"#
        ),
        (#"{"error": "download.timeuot"}"#, #"did you mean "download.timeout"?"#),
        (#"{"error": 5}"#, #"The body's "error" must be an array, not the number 5."#),
        (#"{"state": ["failed"]}"#, #"The body has the unknown key "state"; did you mean "states"?"#),
        (#"["failed"]"#, "The body is an array; send an object."),
    ])
    func `A mistake in a filter of jobs names the value and what is meant`(body: String, message: String) async throws {
        let service = try await LiveService()
        let rejected = try await service.caller.post("/v1/jobs/purge", json: body)
        #expect(rejected.status == 400 && rejected.detail?.hasSuffix(message) == true, "\(rejected.text)")
    }

    @Test func `Text from outside is cut in messages, and long names are not compared`() async throws {
        let service = try await LiveService()
        let long = String(repeating: "source", count: 2_000)
        for body in [
            "{\"\(long)\": 1}", Self.keys("\"priority\": \"\(long)\""), Self.keys("\"headers\": {\"\(long)\": 1}"),
            Self.options("\"crop\": \"\(long)\""), Self.keys("\"network\": \"\(long)\""), "\(long)=1",
        ] {
            let rejected = try await service.caller.post("/v1/jobs", json: body)
            let detail = try #require(rejected.detail)
            #expect((400...422).contains(rejected.status) && detail.utf8.count < 700, "\(detail)")
        }
    }

    @Test func `A conflict with the state of a job is a sentence`() async throws {
        let service = try await LiveService()
        let id = try await service.job()
        service.store.change(id) { $0.state = .succeeded }
        let conflict = try await service.caller.send("DELETE", "/v1/jobs/\(id)", [], body: [])
        #expect(conflict.status == 409)
        #expect(conflict.detail == "The job \(id) has succeeded, so it cannot be cancelled.")
    }
}
