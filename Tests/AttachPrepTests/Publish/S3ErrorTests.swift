import Foundation
import MediaTypes
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

struct S3ErrorTests {
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
        let errorCode: ErrorCode
        var remedy = S3Error.Remedy.none
        let message: String

        var testDescription: String { "\(status) \(code ?? "")" }
    }

    static let rows = [
        Row(status: 404, code: "NoSuchBucket", errorCode: .publishNotFound, message: "no bucket media at 10.0.0.1"),
        Row(status: 404, code: "NoSuchUpload", errorCode: .publishRejected, message: "removed a multipart upload"),
        Row(status: 404, errorCode: .publishNotFound, message: "no bucket media"),
        Row(status: 400, code: "InvalidBucketName", errorCode: .publishNotFound, message: "bucket name media"),
        Row(status: 403, code: "SignatureDoesNotMatch", errorCode: .publishDenied, message: "secret key"),
        Row(status: 403, code: "InvalidAccessKeyId", errorCode: .publishDenied, message: "access key"),
        Row(
            status: 403, code: "AccessDenied", errorCode: .publishDenied, remedy: .renewal, message: "allow them"),
        Row(status: 403, errorCode: .publishDenied, remedy: .renewal, message: "bucket media"),
        Row(status: 400, code: "ExpiredToken", errorCode: .publishDenied, remedy: .renewal, message: "have expired"),
        Row(status: 400, code: "EntityTooLarge", errorCode: .publishRejected, message: "status 400"),
        Row(status: 301, code: "PermanentRedirect", errorCode: .publishNotFound, message: "to another endpoint"),
        Row(status: 503, code: "SlowDown", errorCode: .publishUnavailable, remedy: .retry, message: "status 503"),
        Row(status: 500, code: "InternalError", errorCode: .publishUnavailable, remedy: .retry, message: "status 500"),
        Row(status: 200, code: "InternalError", errorCode: .publishUnavailable, remedy: .retry, message: "status 200"),
        Row(status: 429, errorCode: .publishUnavailable, remedy: .retry, message: "status 429"),
        Row(
            status: 400, code: "RequestTimeout", errorCode: .publishUnavailable, remedy: .retry,
            message: "again later"),
        Row(status: 400, code: "BadDigest", errorCode: .publishUnavailable, remedy: .retry, message: "again later"),
    ]

    @Test(arguments: rows) func `Each error response has a code and a remedy`(row: Row) {
        let s3Error = S3Error(S3ErrorResponse(status: row.status, code: row.code), bucket)
        #expect(s3Error.error.code == row.errorCode)
        #expect(s3Error.remedy == row.remedy)
        #expect(s3Error.error.message.contains(row.message), "\(s3Error.error.message)")
    }

    private func response(_ status: Int, _ body: String, _ fields: [(String, String)] = []) -> HTTPClientResponse {
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
    func `A wrong region is reported with the right one`(status: Int, body: String, fields: [(String, String)]) {
        let s3Error = S3Error(S3ErrorResponse(response(status, body, fields)), bucket)
        #expect(s3Error.error.code == .publishNotFound)
        #expect(s3Error.error.message.contains("region eu-west-1"), "\(s3Error.error.message)")
    }

    @Test func `An invalid region in a response is ignored`() {
        let body = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>&lt;b&gt;\u{1B}[31m</Region></Error>"
        #expect(S3ErrorResponse(response(400, body)).region == nil)
    }

    @Test(arguments: [("RequestTimeTooSkewed", 3_600.0), ("AccessDenied", 90_000), ("RequestTimeTooSkewed", -1_200)])
    func `A wrong clock is reported with its offset`(code: String, ahead: Double) {
        let now = Date(timeIntervalSince1970: 784_111_777 + ahead)
        let body = "<Error><Code>\(code)</Code></Error>"
        let errorResponse = S3ErrorResponse(response(403, body, [("date", "Sun, 06 Nov 1994 08:49:37 GMT")]), now: now)
        let s3Error = S3Error(errorResponse, bucket)
        #expect(s3Error.error.code == .publishDenied)
        let offset = "\(Int(abs(ahead)).grouped) s \(ahead > 0 ? "ahead of" : "behind")"
        #expect(s3Error.error.message.contains(offset), "\(s3Error.error.message)")
    }

    @Test func `The endpoint's own message appears only in the error's detail`() {
        let body = "<Error><Code>AccessDenied</Code><Message>internal words</Message></Error>"
        let error = S3Error(S3ErrorResponse(response(403, body)), bucket).error
        #expect(!error.message.contains("internal words"))
        #expect(error.detail?.contains("internal words") == true)
    }

    // MARK: XML

    @Test(arguments: [
        ("<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>", "NoSuchKey"),
        ("<e:Error><e:Code a='b'>X</e:Code></e:Error>", "X"), ("<Code>a&lt;&amp;lt;&quot;</Code>", "a<&lt;\""),
        ("<Codes>no</Codes><Code>yes</Code><Code>later</Code>", "yes"), ("<Code></Code>", ""),
    ])
    func `The text of an XML element is found`(text: String, found: String) {
        #expect(XMLText.first("Code", in: Array(text.utf8)) == found)
    }

    @Test(arguments: [
        "", "<", "<Code", "<Code>", "<Code>cut off", "<Code/>", "<Code><b>x</b></Code>", "Code", "</Code>",
        "<Code>" + String(repeating: "x", count: 3_000) + "</Code>",
        String(repeating: "<", count: 65_000) + ">", "<" + String(repeating: "Code ", count: 100) + ">x</Code>",
    ])
    func `An XML element that is missing or malformed is not found`(text: String) {
        #expect(XMLText.first("Code", in: Array(text.utf8)) == nil)
    }

    @Test(arguments: ["a<b>&\"'", "<\u{338}", "&lt;\u{301}", "&amp;lt;", "é😀&", ""])
    func `Escaped text is read back unchanged, combining marks included`(text: String) {
        let element = Array("<Code>\(XMLText.escaped(text))</Code>".utf8)
        #expect(element.count { $0 == UInt8(ascii: "<") } == 2)
        #expect(XMLText.first("Code", in: element).map { Array($0.utf8) } == Array(text.utf8))
    }

    // MARK: Parts

    @Test(arguments: [
        (0, []), (8_000_000, []), (8_000_001, [8_000_000, 1]),
        (50_000_000, [8, 8, 8, 8, 8, 8, 2].map { $0 * 1_000_000 }),
    ])
    func `A file over 8 MB is uploaded in parts`(bytes: Int, parts: [Int]) {
        let plan = MultipartPlan(bytes: bytes)
        #expect(plan.parts.map(\.bytes) == parts)
        #expect(plan.parts.map(\.number) == Array(1..<(parts.count + 1)))
        #expect(plan.parts.map(\.offset) == parts.indices.map { parts[..<$0].reduce(0, +) })
    }

    @Test func `The completion body is well-formed whatever the ETags`() {
        let body = String(decoding: MultipartPlan.completion([2: "\"b\"", 1: "a</ETag><Part>"]), as: UTF8.self)
        #expect(
            body == "<CompleteMultipartUpload>"
                + "<Part><PartNumber>1</PartNumber><ETag>a&lt;/ETag&gt;&lt;Part&gt;</ETag></Part>"
                + "<Part><PartNumber>2</PartNumber><ETag>&quot;b&quot;</ETag></Part></CompleteMultipartUpload>")
    }
}
