import Foundation
import RichPush
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep

@Suite(.timeLimit(.minutes(1))) struct ObjectUploadTests {
    let bucket: FakeBucket

    init() throws {
        bucket = try FakeBucket()
    }

    private func failure(bytes: Int = 10, within time: Duration = .seconds(30)) async throws -> AttachPrepError {
        try #require(
            await #expect(throws: AttachPrepError.self) { try await bucket.upload(bytes: bytes, within: time) })
    }

    private let stored = LoopbackAnswer.status(200, ["ETag": "\"x\""])

    // MARK: As one

    @Test func `A small file goes up as one, with all that it is served with`() async throws {
        bucket.server.serve(FakeBucket.path, stored)
        try await bucket.upload(bytes: 1_000)
        let request = try #require(bucket.server.requests.first)
        #expect(request.method == "PUT" && request.body.count == 1_000)
        #expect(request.headers["content-type"] == "video/mp4")
        #expect(request.headers["content-disposition"] == "inline; filename=\"attachment.mp4\"")
        #expect(request.headers["cache-control"] == "public, max-age=3600")
        #expect(request.headers["x-amz-content-sha256"] == bucket.digest(bytes: 1_000))
        #expect(request.headers["x-amz-meta-sha256"] == bucket.digest(bytes: 1_000))
        #expect(request.headers["x-amz-security-token"] == nil)
        let signature = try #require(request.headers["authorization"])
        #expect(signature.hasPrefix("AWS4-HMAC-SHA256 Credential=test:tester/"))
        #expect(!signature.contains("user-agent") && request.headers["user-agent"]?.hasPrefix("attachprep/") == true)
    }

    @Test func `An empty file is a file`() async throws {
        bucket.server.serve(FakeBucket.path, stored)
        try await bucket.upload(bytes: 0)
        #expect(bucket.server.requests.first?.headers["content-length"] == "0")
    }

    @Test func `The token of temporary credentials goes along, signed`() async throws {
        let environment = FakeBucket.environment.merging(["AWS_SESSION_TOKEN": "abc"]) { $1 }
        let bucket = try FakeBucket(environment: environment)
        bucket.server.serve(FakeBucket.path, stored)
        try await bucket.upload(bytes: 1)
        let request = try #require(bucket.server.requests.first)
        #expect(request.headers["x-amz-security-token"] == "abc")
        #expect(request.headers["authorization"]?.contains("x-amz-security-token") == true)
    }

    @Test(arguments: [503, 500, 429]) func `What is busy is asked again`(status: Int) async throws {
        bucket.server.serve(FakeBucket.path, inTurn: [.refusal(status, "SlowDown"), stored])
        try await bucket.upload(bytes: 100_000)
        #expect(bucket.server.requests.map(\.body.count) == [100_000, 100_000])
    }

    @Test func `What stays busy is given up after four tries`() async throws {
        bucket.server.serve(FakeBucket.path, .refusal(503, "SlowDown"))
        let error = try await failure()
        #expect(error.code == .publishUnavailable && error.isRetryable)
        #expect(bucket.server.requests.count == Limits.publishAttemptsMax)
    }

    @Test func `A connection that breaks off is opened again, and all is sent again`() async throws {
        bucket.server.serve(FakeBucket.path, inTurn: [LoopbackAnswer([.reset]), LoopbackAnswer([.close]), stored])
        try await bucket.upload(bytes: 3_000_000)
        #expect(bucket.server.requests.map(\.body.count) == [3_000_000, 3_000_000, 3_000_000])
    }

    @Test(arguments: [(403, "AccessDenied", ErrorCode.publishDenied), (404, "NoSuchBucket", .publishNotFound)])
    func `What is refused is not asked again`(status: Int, code: String, becomes: ErrorCode) async throws {
        bucket.server.serve(FakeBucket.path, .refusal(status, code))
        #expect(try await failure().code == becomes)
        #expect(bucket.server.requests.count == 1)
    }

    @Test func `A redirect is not followed`() async throws {
        bucket.server.serve(FakeBucket.path, .redirect(bucket.server.url("/elsewhere"), status: 307))
        #expect(try await failure().code == .publishNotFound)
        #expect(bucket.server.requests(to: "/elsewhere").isEmpty)
    }

    @Test func `A server that takes everything and is no S3 is not believed`() async throws {
        bucket.server.serve(FakeBucket.path, .body(Data("<html>".utf8), type: "text/html"))
        #expect(try await failure().message.contains("does not answer as S3"))
    }

    @Test func `Nobody there is unavailable`() async throws {
        bucket.server.stop()
        #expect(try await failure(within: .seconds(5)).code == .publishUnavailable)
    }

    @Test func `An endpoint that says nothing ends with the budget`() async throws {
        bucket.server.serve(FakeBucket.path, LoopbackAnswer([.hang]))
        #expect(try await failure(within: .milliseconds(300)).code == .deadlineExceeded)
    }

    @Test func `Nobody who wants it any more ends it`() async throws {
        bucket.server.serve(FakeBucket.path, LoopbackAnswer([.hang]))
        let waiting = Task { [bucket] in try await bucket.upload(bytes: 10) }
        await bucket.server.until { $0.requests.count == 1 }
        waiting.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `Credentials that were renewed in their file are taken at once`() async throws {
        let folder = try TemporaryFolder()
        let write = { @Sendable (key: String) in
            _ = try? folder.write("[default]\naws_access_key_id=\(key)\naws_secret_access_key=s\n", to: "credentials")
        }
        write("OLD")
        let bucket = try FakeBucket(environment: ["AWS_SHARED_CREDENTIALS_FILE": folder.path("credentials")])
        bucket.server.serve(FakeBucket.path) { request in
            guard request.headers["authorization"]?.contains("Credential=NEW") == true else {
                write("NEW/")
                write("NEW")
                return .refusal(400, "ExpiredToken")
            }
            return .status(200, ["ETag": "x"])
        }
        try await bucket.upload(bytes: 1)
        #expect(bucket.server.requests.count == 2)
    }

    @Test func `One connection with TLS serves one request after the other`() async throws {
        let environment = FakeBucket.environment.merging(["AWS_CA_BUNDLE": try TestCertificates.shared.authorityFile]) {
            $1
        }
        let relays = Mutex([TLSRelay]())
        let bucket = try FakeBucket(environment: environment) { server in
            let relay = try TLSRelay(to: server, protocols: [])
            relays.withLock { $0.append(relay) }
            return relay.url("")
        }
        bucket.server.serve(FakeBucket.path, stored)
        for _ in 1...3 { try await bucket.upload(bytes: 1_000) }
        #expect(bucket.server.requests.count == 3 && bucket.server.connectionCount == 1)
    }

    @Test func `A certificate that nobody has signed is not talked to`() async throws {
        let relays = Mutex([TLSRelay]())
        let bucket = try FakeBucket { server in
            let relay = try TLSRelay(to: server, protocols: [])
            relays.withLock { $0.append(relay) }
            return relay.url("")
        }
        let error = await #expect(throws: AttachPrepError.self) { try await bucket.upload(bytes: 1) }
        #expect(error?.code == .publishUnavailable && error?.isRetryable == false)
        #expect(bucket.server.requests.isEmpty)
    }

    // MARK: In parts

    @Test func `A large file goes up in parts, and is put together from their tags`() async throws {
        bucket.serveParts()
        try await bucket.upload(bytes: 17_000_000)
        #expect(bucket.asked.first == "POST?uploads=" && bucket.asked.last == "POST?uploadId=id%2F1%2B")
        let puts = bucket.server.requests.filter { $0.method == "PUT" }
        #expect(puts.map(\.body.count).sorted() == [1_000_000, 8_000_000, 8_000_000])
        let begun = try #require(bucket.server.requests.first)
        #expect(begun.headers["content-type"] == "video/mp4" && begun.headers["cache-control"] != nil)
        #expect(begun.headers["x-amz-meta-sha256"] == bucket.digest(bytes: 17_000_000))
        let end = String(decoding: try #require(bucket.server.requests.last).body, as: UTF8.self)
        let tags = ["8000000", "8000000", "1000000"].map { "<ETag>&quot;\($0)&quot;</ETag>" }
        #expect(end.split(separator: "</Part>").dropLast().enumerated().allSatisfy { $1.contains(tags[$0]) }, "\(end)")
    }

    @Test func `A part that is refused takes the upload back`() async throws {
        bucket.serveParts { $0.target.contains("partNumber=2") ? .refusal(403, "AccessDenied") : nil }
        #expect(try await failure(bytes: 17_000_000).code == .publishDenied)
        await bucket.cleanup.finish(within: .seconds(30))
        #expect(bucket.asked.last == "DELETE?uploadId=id%2F1%2B")
        #expect(!bucket.asked.contains("POST?uploadId=id%2F1%2B"))
    }

    @Test func `An upload that its budget ends is taken back all the same`() async throws {
        bucket.serveParts { $0.method == "PUT" ? LoopbackAnswer([.hang]) : nil }
        #expect(try await failure(bytes: 9_000_000, within: .milliseconds(500)).code == .deadlineExceeded)
        await bucket.cleanup.finish(within: .seconds(30))
        #expect(bucket.asked.last == "DELETE?uploadId=id%2F1%2B")
    }

    @Test func `At the end nobody waits for an endpoint that puts off taking an upload back`() async throws {
        bucket.serveParts { request in
            switch request.method {
            case "PUT": .refusal(403, "AccessDenied")
            case "DELETE": .status(503, ["Retry-After": "4"])
            default: nil
            }
        }
        #expect(try await failure(bytes: 9_000_000).code == .publishDenied)
        let server = bucket.server
        try await askUntil("the endpoint is asked to take it back") {
            server.requests.contains { $0.method == "DELETE" }
        }
        await bucket.cleanup.finish(within: .milliseconds(10))
        #expect(bucket.asked.count { $0.hasPrefix("DELETE") } == 1)
    }

    @Test func `An end that says 200 and then an error is asked again`() async throws {
        bucket.serveParts { request in
            guard request.method == "POST", request.target.contains("uploadId"), request.number < 6 else { return nil }
            return .refusal(200, "InternalError")
        }
        try await bucket.upload(bytes: 9_000_000)
        #expect(bucket.asked.filter { $0 == "POST?uploadId=id%2F1%2B" }.count == 3)
    }

    @Test func `An upload that is gone, although it was never put together, is a failure`() async throws {
        bucket.serveParts { request in
            request.method == "POST" && request.target.contains("uploadId") ? .refusal(404, "NoSuchUpload") : nil
        }
        let error = try await failure(bytes: 9_000_000)
        #expect(error.code == .publishUnavailable && error.message.contains("removed a multipart upload"), "\(error)")
    }

    @Test(arguments: [true, false])
    func `An upload whose end was lost on the way is looked for`(isThere: Bool) async throws {
        let digest = bucket.digest(bytes: 9_000_000)
        bucket.serveParts { request in
            switch request.method {
            case "POST" where request.target.contains("uploadId"):
                request.number == 4 ? LoopbackAnswer([.reset]) : .refusal(404, "NoSuchUpload")
            case "HEAD": .status(isThere ? 200 : 404, ["x-amz-meta-sha256": digest, "Content-Length": "9000000"])
            default: nil
            }
        }
        if isThere {
            try await bucket.upload(bytes: 9_000_000)
        } else {
            #expect(try await failure(bytes: 9_000_000).code == .publishUnavailable)
        }
        #expect(bucket.asked.contains("HEAD"))
    }
}
