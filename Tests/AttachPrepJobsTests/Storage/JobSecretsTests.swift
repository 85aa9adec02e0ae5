import AttachPrep
import AttachPrepJobs
import Foundation
import Testing

/// Secrets of requests, which are stored apart from them.
@Suite struct JobSecretsTests {
    private func request() throws -> AttachmentRequest {
        let json = """
            {"source": "https://m.example/a", "matrix": {"file": {"v": "v2", "iv": "//////////8AAAAAAAAAAA",
             "key": {"kty": "oct", "alg": "A256CTR", "key_ops": ["decrypt"], "ext": true,
             "k": "__________________________________________8"},
             "hashes": {"sha256": "YzF08lARDdOCzJpzuSwsjTNlQc4pHxpdHcXiD/wpK6k"}}}}
            """
        return try JSONDecoder().decode(AttachmentRequest.self, from: Data(json.utf8))
    }

    @Test func `The key of an encrypted attachment is stored apart and restored`() throws {
        let request = try request()
        #expect(request.shown.matrix == nil)
        #expect(try String(decoding: JSONEncoder().encode(request.shown), as: UTF8.self).contains("____") == false)
        let secrets = try #require(JobSecrets(request))
        let stored = try JSONDecoder().decode(JobSecrets.self, from: JSONEncoder().encode(secrets))
        #expect(stored.restored(to: request.shown) == request)
    }

    @Test func `Secrets that an older version stored have no key`() throws {
        let json = Data("{\"source\": \"https://m.example/a\", \"headers\": {}}".utf8)
        #expect(try JSONDecoder().decode(JobSecrets.self, from: json).matrix == nil)
    }
}
