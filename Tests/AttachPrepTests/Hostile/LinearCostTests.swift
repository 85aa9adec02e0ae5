import Foundation
import MediaEngine
import MediaTypes
import SafeArithmetic
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Doubling what a server, a file, a caller or a media process sends at most doubles the cost, whatever its shape.
@Suite(.enabled(if: LinearCost.isCompared)) struct LinearCostTests {
    // MARK: Response heads

    private static let headers = [
        "content-type", "content-length", "content-range", "content-encoding", "transfer-encoding", "location", "etag",
        "last-modified", "date", "expires", "cache-control", "age", "vary", "accept-ranges", "set-cookie",
        "x-any",
    ]

    /// Everything that is decided from the head of a response.
    private static func read(_ lines: [[UInt8]]) throws {
        let address = try WebAddress("https://cdn.example/a")
        for status in [200, 206, 302, 304] {
            var parser = ResponseHeadParser()
            var head: ResponseHead?
            for line in [Array("HTTP/1.1 \(status) OK".utf8)] + lines + [[]] {
                head = line.withUnsafeBytes { parser.parse($0) } ?? head
            }
            guard let head else { continue }
            _ = ResponseVerdict(head, resuming: nil)
            _ = ContentCoding(head)
            var cookies = RedirectCookies()
            cookies.store(head, from: address)
            _ = cookies.header(for: address, callers: nil)
            _ = (head.mimeType, head.contentLength, head.contentRange, head.isEncoded, head.hashValue, head == head)
            let freshness = SourceFreshness(head, requestedAt: .now, by: address)
            if let validators = freshness.validators { _ = ResponseVerdict(head, resuming: nil, asking: validators) }
            let validators = SourceValidators(entityTag: "\"1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
            _ = ResponseVerdict(head, resuming: nil, asking: validators)
            if let point = ResumePoint(after: head, bytes: 1, total: 9) { _ = ResponseVerdict(head, resuming: point) }
            if case .redirect(let location) = ResponseVerdict(head, resuming: nil) {
                _ = try? address.following(location.string)
            }
        }
    }

    @Test(arguments: headers, HostileText.ofHeaders)
    func `Each header of a response`(name: String, shape: HostileText) {
        let cost = LinearCost.measure(Limits.headerBytesMax) { bytes in
            [Array("\(name): \(shape.text(bytes))".utf8)]
        } _: {
            try Self.read($0)
        }
        #expect(cost.isLinear, "\(cost)")
    }

    @Test(arguments: headers) func `Each header of a response, twice with different ends`(name: String) {
        let cost = LinearCost.measure(Limits.headerBytesMax) { bytes in
            ["x", "y"].map { Array("\(name): \(HostileText.marks.text(bytes / 2))\($0)".utf8) }
        } _: {
            try Self.read($0)
        }
        #expect(cost.isLinear, "\(cost)")
    }

    @Test(arguments: ["a: b", " folded", "no colon", "cache-control: a=b", "set-cookie: a=b", "etag: \"1\""])
    func `Many header lines`(line: String) {
        let cost = LinearCost.measure(Limits.headerLinesMax) {
            [[UInt8]](repeating: Array(line.utf8), count: $0)
        } _: {
            try Self.read($0)
        }
        #expect(cost.isLinear, "\(cost)")
    }

    // MARK: URLs

    @Test(
        arguments: ["", "https://", "https://cdn.example/", "https://cdn.example/?", "https://a:b@cdn.example/?sig="],
        HostileText.allCases)
    func `A URL is parsed, followed and redacted`(start: String, shape: HostileText) throws {
        let base = try WebAddress("https://cdn.example/a")
        let cost = LinearCost.measure(65_536, of: { start + shape.text($0) }) { text in
            _ = try? WebAddress(text)
            _ = try? base.following(text)
            _ = RedactedURL.redact(text)
            #expect(RedactedURL.excerpt(text).utf8.count <= MessageText.excerptBytesMax + 3)
        }
        #expect(cost.isLinear, "\(cost)")
    }

    // MARK: JSON

    private static let documents: [(name: String, json: @Sendable (String) -> String)] = [
        ("key", { "{\($0):1}" }), ("source", { "{\"source\":\($0)}" }), ("id", { "{\"source\":\"a\",\"id\":\($0)}" }),
        ("header name", { "{\"source\":\"a\",\"headers\":{\($0):\"b\"}}" }),
        ("header", { "{\"source\":\"a\",\"headers\":{\"x\":\($0)}}" }),
        ("callbackURL", { "{\"source\":\"a\",\"callbackURL\":\($0)}" }),
        ("payload", { "{\"source\":\"a\",\"payload\":{\"aps\":{\"alert\":\($0)}}}" }),
        ("payload key", { "{\"source\":\"a\",\"payload\":{\($0):1}}" }),
        ("manifest", { "{\"source\":{\"url\":\($0)},\"id\":\($0),\"warnings\":[{\"code\":\($0)}]}" }),
        ("quarantine", { "{\"digest\":\($0),\"strikes\":[{\"ending\":\($0)}],\"prefixes\":[\($0)]}" }),
        ("crop", { "{\"source\":\"a\",\"crop\":\($0)}" }), ("budget", { "{\"source\":\"a\",\"budget\":\($0)}" }),
        ("target", { "{\"source\":\"a\",\"targets\":[\($0)]}" }), ("avatar", { "{\"source\":\"a\",\"avatar\":\($0)}" }),
        ("tag", { "{\"source\":\"a\",\"tags\":[\($0)]}" }), ("retry", { "{\"source\":\"a\",\"retry\":\($0)}" }),
        ("retry until", { "{\"source\":\"a\",\"retry\":{\"policy\":\($0),\"until\":\($0)}}" }),
        (
            "payload of FCM",
            { "{\"message\":{\"notification\":{\"image\":\($0)},\"webpush\":{\"headers\":{\($0):1}}}}" }
        ),
        ("web push", { "{\"title\":\($0),\"icon\":\($0),\"image\":\($0)}" }),
    ]

    @Test(arguments: documents.indices, HostileText.allCases)
    func `Each text of a request and of a payload`(index: Int, shape: HostileText) {
        let document = Self.documents[index].json
        let cost = LinearCost.measure(60_000, of: { Array(document(shape.json($0)).utf8) }, Self.readJSON)
        #expect(cost.isLinear, "\(Self.documents[index].name): \(cost)")
    }

    private static func readJSON(_ bytes: [UInt8]) {
        if let request = try? AttachmentRequest(json: bytes, defaults: AttachmentRequest(source: "")) {
            _ = try? request.validate()
            _ = try? RequestIdentity(request, localState: nil)
        }
        _ = try? PayloadInput(bytes)
        _ = try? Manifest(json: bytes)
        _ = try? MediaMessageCoding.decode(MediaAnswerMessage.self, from: bytes)
        _ = try? CredentialDocument(bytes, from: "a service")
        _ = try? ForeignJSON.decode(QuarantineEntry.self, from: bytes)
    }

    @Test(arguments: HostileText.allCases) func `A file of the quarantine, by its content and its name`(
        shape: HostileText
    ) throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("quarantine")
        let cost = LinearCost.measure(
            2_000_000,
            of: { bytes in
                let prefix = shape.json(bytes)
                let entry = "{\"digest\":\"a\",\"subject\":\"content\",\"strikes\":[],\"prefixes\":[\(prefix)]}"
                _ = try? folder.write(Array(entry.utf8), to: "quarantine/\(bytes).json")
                return bytes
            }
        ) { name in
            _ = QuarantineFolder(folder: folder.path).entry("\(name)")
        }
        #expect(cost.isLinear, "\(cost)")
    }

    @Test func `Keys, nesting, numbers and elements of JSON`() {
        let shapes: [(Int) -> String] = [
            { "{" + (0..<$0 / 10).map { "\"k\($0)\":1" }.joined(separator: ",") + "}" },
            { String(repeating: "[", count: $0 / 2) + String(repeating: "]", count: $0 / 2) },
            { String(repeating: "{\"a\":", count: $0 / 6) + "1" + String(repeating: "}", count: $0 / 6) },
            { "{\"a\":" + String(repeating: "9", count: $0) + "}" },
            { "{\"a\":1e" + String(repeating: "9", count: $0) + "}" },
            { "[" + String(repeating: "1,", count: $0 / 2) + "1]" },
            { "{\"" + String(repeating: "\\u0301\\u0323", count: $0 / 12) + "\":1}" },
        ]
        for (index, shape) in shapes.enumerated() {
            let cost = LinearCost.measure(1_000_000, of: { Array(shape($0).utf8) }, Self.readJSON)
            #expect(cost.isLinear, "shape \(index): \(cost)")
        }
    }

    // MARK: Other documents

    @Test(arguments: HostileText.allCases) func `The error document of a bucket`(shape: HostileText) {
        let cost = LinearCost.measure(65_536, of: { Array("<Error><Code>\(shape.text($0))</Code>".utf8) }) {
            _ = S3ErrorResponse(
                HTTPClientResponse(
                    head: ResponseHead(status: 400), body: $0, isWhole: true, retryAfter: nil))
        }
        #expect(cost.isLinear, "\(cost)")
    }
}
