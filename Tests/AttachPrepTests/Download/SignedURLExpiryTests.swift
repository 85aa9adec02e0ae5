import AttachPrepModel
import Foundation
import TestSupport
import Testing

@testable import AttachPrep

/// URLs that expire.
@Suite(.timeLimit(.minutes(1))) struct SignedURLExpiryTests {
    @Test(arguments: [
        ("?X-Amz-Date=20260102T030405Z&X-Amz-Expires=60&X-Amz-Signature=a", 1_767_323_105.0),
        ("?x-goog-signature=a&x-goog-date=20260102T030405Z&x-goog-expires=0", 1_767_323_045),
        ("?AWSAccessKeyId=a&Expires=1767323045&Signature=b", 1_767_323_045),
        ("?sv=1&se=2026-01-02T03%3A04%3A05Z&sig=x", 1_767_323_045), ("?se=2026-01-02&sig=x", 1_767_312_000),
        ("?se=2026-01-02T03:04Z&sig=x", 1_767_323_040),
    ])
    func `The expiry of signed URLs is read`(query: String, time: Double) {
        #expect(SignedURLExpiry.date(of: "https://a/b" + query)?.timeIntervalSince1970 == time)
    }

    @Test(arguments: [
        "", "?Expires=1767323045", "?se=2026-01-02", "?X-Amz-Expires=60&X-Amz-Signature=a", "?Expires=soon&Signature=b",
        "?X-Amz-Date=20261332T030405Z&X-Amz-Expires=60&X-Amz-Signature=a", "?se=99999999999999999999999999&sig=x",
        "?X-Amz-Date=20260102T030405Z&X-Amz-Expires=99999999999999999999&X-Amz-Signature=a", "?&=&sig=&se=",
    ])
    func `Other URLs have none`(query: String) {
        #expect(SignedURLExpiry.date(of: "https://a/b" + query) == nil)
    }

    private func message(_ server: LoopbackServer, _ path: String) async throws -> String {
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await DownloadBench().fetch(server.url(path))
        }
        #expect(error?.code == .downloadHTTPStatus)
        return error?.message ?? ""
    }

    @Test func `A refusal of an expired URL gives the time`() async throws {
        let server = try LoopbackServer()
        let path = "/a?Expires=1767323045&Signature=b"
        server.serve("/a", .status(403))
        #expect(try await message(server, path).contains("the signed URL expired at 2026-01-02T03:04:05Z"))
        server.serve("/b", .status(403))
        #expect(try await message(server, "/b").contains("expired") == false)
    }

    @Test func `A refusal after an interruption says that the access has expired`() async throws {
        let server = try LoopbackServer()
        let body = Data(repeating: 7, count: 50_000)
        server.serve("/a", inTurn: [.start(of: body, bytes: 20_000).then(.close), .status(403)])
        #expect(try await message(server, "/a").contains("had begun to send the file"))
    }
}
