import Foundation
import RichPush
import Testing

@testable import AttachPrep

struct S3FaultTests {
    let bucket: S3Bucket

    init() throws {
        var settings = S3Settings(try S3Location("s3://media"), environment: [:])
        settings.endpoint = "http://10.0.0.1"
        bucket = try S3Bucket(
            settings, AWSProfile("default", credentials: AWSProfileFile(""), configuration: AWSProfileFile("")))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        var code: String?
        let becomes: ErrorCode
        var remedy = S3Error.Remedy.none
        let says: String

        var testDescription: String { "\(status) \(code ?? "")" }
    }

    static let rows = [
        Row(status: 404, code: "NoSuchBucket", becomes: .publishNotFound, says: "no bucket media at 10.0.0.1"),
        Row(status: 404, code: "NoSuchUpload", becomes: .publishUnavailable, says: "removed a multipart upload"),
        Row(status: 404, becomes: .publishNotFound, says: "no bucket media"),
        Row(status: 400, code: "InvalidBucketName", becomes: .publishNotFound, says: "bucket name media"),
        Row(status: 403, code: "SignatureDoesNotMatch", becomes: .publishDenied, says: "secret key"),
        Row(status: 403, code: "InvalidAccessKeyId", becomes: .publishDenied, says: "access key"),
        Row(
            status: 403, code: "AccessDenied", becomes: .publishDenied, remedy: .renewal, says: "allow them"),
        Row(status: 403, becomes: .publishDenied, remedy: .renewal, says: "bucket media"),
        Row(status: 400, code: "ExpiredToken", becomes: .publishDenied, remedy: .renewal, says: "have expired"),
        Row(status: 400, code: "EntityTooLarge", becomes: .publishDenied, says: "status 400"),
        Row(status: 301, code: "PermanentRedirect", becomes: .publishNotFound, says: "to another endpoint"),
        Row(status: 503, code: "SlowDown", becomes: .publishUnavailable, remedy: .retry, says: "status 503"),
        Row(status: 500, code: "InternalError", becomes: .publishUnavailable, remedy: .retry, says: "status 500"),
        Row(status: 200, code: "InternalError", becomes: .publishUnavailable, remedy: .retry, says: "status 200"),
        Row(status: 429, becomes: .publishUnavailable, remedy: .retry, says: "status 429"),
        Row(status: 400, code: "RequestTimeout", becomes: .publishUnavailable, remedy: .retry, says: "again later"),
        Row(status: 400, code: "BadDigest", becomes: .publishUnavailable, remedy: .retry, says: "again later"),
    ]

    @Test(arguments: rows) func `An answer that says no has a code and a remedy`(row: Row) {
        let fault = S3Error(S3ErrorResponse(status: row.status, code: row.code), bucket)
        #expect(fault.error.code == row.becomes)
        #expect(fault.remedy == row.remedy)
        #expect(fault.error.message.contains(row.says), "\(fault.error.message)")
    }

    private func answer(_ status: Int, _ body: String, _ fields: [(String, String)] = []) -> HTTPClientResponse {
        HTTPClientResponse(
            head: ResponseHead(status: status, fields.map { (name: $0.0, value: $0.1) }), body: Array(body.utf8),
            isWhole: true, retryAfter: nil)
    }

    @Test(arguments: [
        (
            400, "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>",
            [(String, String)]()
        ),
        (301, "<Error><Code>PermanentRedirect</Code></Error>", [("x-amz-bucket-region", "eu-west-1")]),
        (307, "", [("x-amz-bucket-region", "eu-west-1")]), (400, "", [("x-amz-bucket-region", "eu-west-1")]),
    ])
    func `A wrong region is told the right one`(status: Int, body: String, fields: [(String, String)]) {
        let fault = S3Error(S3ErrorResponse(answer(status, body, fields)), bucket)
        #expect(fault.error.code == .publishNotFound)
        #expect(fault.error.message.contains("region eu-west-1"), "\(fault.error.message)")
    }

    @Test func `A region that is none is not repeated`() {
        let body = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>&lt;b&gt;\u{1B}[31m</Region></Error>"
        #expect(S3ErrorResponse(answer(400, body)).region == nil)
    }

    @Test(arguments: [("RequestTimeTooSkewed", 3_600.0), ("AccessDenied", 90_000), ("RequestTimeTooSkewed", -1_200)])
    func `A wrong clock is told by how much`(code: String, ahead: Double) {
        let now = Date(timeIntervalSince1970: 784_111_777 + ahead)
        let body = "<Error><Code>\(code)</Code></Error>"
        let refusal = S3ErrorResponse(answer(403, body, [("date", "Sun, 06 Nov 1994 08:49:37 GMT")]), now: now)
        let fault = S3Error(refusal, bucket)
        #expect(fault.error.code == .publishDenied)
        let words = "\(Int(abs(ahead)).grouped) s \(ahead > 0 ? "ahead of" : "behind")"
        #expect(fault.error.message.contains(words), "\(fault.error.message)")
    }

    @Test func `The endpoint's own words are for the log alone`() {
        let body = "<Error><Code>AccessDenied</Code><Message>internal words</Message></Error>"
        let error = S3Error(S3ErrorResponse(answer(403, body)), bucket).error
        #expect(!error.message.contains("internal words"))
        #expect(error.detail?.contains("internal words") == true)
    }

    // MARK: What such answers are written in

    @Test(arguments: [
        ("<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>", "NoSuchKey"),
        ("<e:Error><e:Code a='b'>X</e:Code></e:Error>", "X"), ("<Code>a&lt;&amp;lt;&quot;</Code>", "a<&lt;\""),
        ("<Codes>no</Codes><Code>yes</Code><Code>later</Code>", "yes"), ("<Code></Code>", ""),
    ])
    func `The text of an element is found`(text: String, found: String) {
        #expect(XMLText.first("Code", in: Array(text.utf8)) == found)
    }

    @Test(arguments: [
        "", "<", "<Code", "<Code>", "<Code>cut off", "<Code/>", "<Code><b>x</b></Code>", "Code", "</Code>",
        "<Code>" + String(repeating: "x", count: 3_000) + "</Code>",
        String(repeating: "<", count: 65_000) + ">", "<" + String(repeating: "Code ", count: 100) + ">x</Code>",
    ])
    func `What is no such element is none`(text: String) {
        #expect(XMLText.first("Code", in: Array(text.utf8)) == nil)
    }

    @Test(arguments: ["a<b>&\"'", "<\u{338}", "&lt;\u{301}", "&amp;lt;", "é😀&", ""])
    func `A text that is written into an element is read as it was, bracket with a mark or not`(text: String) {
        let element = Array("<Code>\(XMLText.escaped(text))</Code>".utf8)
        #expect(element.count { $0 == UInt8(ascii: "<") } == 2)
        #expect(XMLText.first("Code", in: element).map { Array($0.utf8) } == Array(text.utf8))
    }

    // MARK: Parts

    @Test(arguments: [
        (0, []), (8_000_000, []), (8_000_001, [8_000_000, 1]),
        (50_000_000, [8, 8, 8, 8, 8, 8, 2].map { $0 * 1_000_000 }),
    ])
    func `A file above 8 MB goes up in parts`(bytes: Int, parts: [Int]) {
        let plan = MultipartPlan(bytes: bytes)
        #expect(plan.parts.map(\.bytes) == parts)
        #expect(plan.parts.map(\.number) == Array(1..<(parts.count + 1)))
        #expect(plan.parts.map(\.offset) == parts.indices.map { parts[..<$0].reduce(0, +) })
    }

    @Test func `What completes an upload is well formed, whatever the tags are`() {
        let body = String(decoding: MultipartPlan.completion([2: "\"b\"", 1: "a</ETag><Part>"]), as: UTF8.self)
        #expect(
            body == "<CompleteMultipartUpload>"
                + "<Part><PartNumber>1</PartNumber><ETag>a&lt;/ETag&gt;&lt;Part&gt;</ETag></Part>"
                + "<Part><PartNumber>2</PartNumber><ETag>&quot;b&quot;</ETag></Part></CompleteMultipartUpload>")
    }
}
