import Foundation
import Logging
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

@Suite struct WebhookSecretTests {
    /// The example that the Standard Webhooks project publishes with its reference libraries.
    static let published = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    static func secret(of bytes: Int, from first: UInt8 = 0) -> String {
        "whsec_" + Data((0..<bytes).map { first &+ UInt8(truncatingIfNeeded: $0) }).base64EncodedString()
    }

    @Test func `The published example has the published signature`() throws {
        let secret = try WebhookSecret(Self.published, at: "here")
        let signature = WebhookSignature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8),
            secrets: [secret])
        #expect(signature.text == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [24, 31, 32, 64])
    func `OpenSSL computes the same signature`(bytes: Int) async throws {
        let text = Self.secret(of: bytes, from: 200)
        let key = try #require(Data(base64Encoded: String(text.dropFirst(6)))).map { String(format: "%02x", $0) }
        let folder = try TemporaryFolder()
        let body = Array("{\"näme\": \"x\"}\n".utf8)
        try folder.write(Array("msg_1.17.".utf8) + body, to: "content")
        let openssl = try await RunCommand(
            "openssl",
            ["dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(key.joined())", "-binary", folder.path("content")]
        ).run()
        let signature = try WebhookSignature(
            id: "msg_1", timestamp: 17, body: body, secrets: [WebhookSecret(text, at: "here")])
        #expect(signature.text == "v1,\(Data(openssl.output).base64EncodedString())")
    }

    @Test func `Each secret signs, in the given order`() throws {
        let texts = [Self.secret(of: 32), Self.published]
        let secrets = try texts.map { try WebhookSecret($0, at: "here") }
        let alone = secrets.map { WebhookSignature(id: "i", timestamp: 1, body: [1], secrets: [$0]).text }
        let both = WebhookSignature(id: "i", timestamp: 1, body: [1], secrets: secrets).text
        #expect(both == alone.joined(separator: " "))
        #expect(Set(alone).count == 2)
    }

    @Test func `A change of id, time, body or secret changes the signature`() throws {
        let secrets = try [Self.published, Self.secret(of: 24)].map { try WebhookSecret($0, at: "here") }
        let all = Set([
            WebhookSignature(id: "a", timestamp: 1, body: [1], secrets: [secrets[0]]),
            WebhookSignature(id: "b", timestamp: 1, body: [1], secrets: [secrets[0]]),
            WebhookSignature(id: "a", timestamp: 2, body: [1], secrets: [secrets[0]]),
            WebhookSignature(id: "a", timestamp: 1, body: [2], secrets: [secrets[0]]),
            WebhookSignature(id: "a", timestamp: 1, body: [1], secrets: [secrets[1]]),
        ])
        #expect(all.count == 5)
    }

    @Test(arguments: [
        ("", "does not begin with whsec_"), ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "does not begin with whsec_"),
        ("whsec_not!base64", "is not base64"), (secret(of: 23), "has 23 bytes and not 24 to 64"),
        (secret(of: 65), "has 65 bytes and not 24 to 64"), ("whsec_", "has 0 bytes"),
    ])
    func `An invalid secret is reported by its position and not shown`(text: String, reason: String) throws {
        let error = try #require(
            #expect(throws: AttachPrepError.self) { try WebhookSecret(text, at: "Secret 2 in the file") })
        #expect(error.code == .requestInvalid)
        #expect(error.message.contains("Secret 2 in the file \(reason)"))
        let payload = text.replacing("whsec_", with: "")
        #expect(payload.isEmpty || !error.description.contains(payload))
    }

    @Test func `A secret's descriptions do not reveal it`() throws {
        let secret = try WebhookSecret(Self.published, at: "here")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", dumped] {
            #expect(!text.contains("MfKQ") && !text.contains("49"), "\(text)")
        }
    }

    // MARK: Sources

    private func secrets(_ literals: [String] = [], file: String? = nil) throws -> WebhookSecrets {
        try WebhookSecrets(
            literals: literals, file: file, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func parsed(_ texts: String...) throws -> [WebhookSecret] {
        try texts.map { try WebhookSecret($0, at: "here") }
    }

    @Test func `A variable can hold several secrets, separated by commas or white space`() throws {
        let (one, two, three) = (Self.secret(of: 24), Self.secret(of: 32), Self.secret(of: 64))
        #expect(try secrets(["\(one),\(two) \n\(three)"]).current == parsed(one, two, three))
        #expect(try secrets().current.isEmpty)
    }

    @Test func `A file is read again when it changes, in the order of its lines`() throws {
        let folder = try TemporaryFolder()
        let (one, two) = (Self.secret(of: 24), Self.secret(of: 32))
        try folder.write(Array("# ours\n\n  \(one)  \r\n".utf8), to: "secrets")
        let secrets = try secrets(file: folder.path("secrets"))
        #expect(try secrets.current == parsed(one))
        try folder.write(Array("\(two)\n\(one)\n".utf8), to: "secrets")
        #expect(try secrets.current == parsed(two, one))
        try folder.write(Array("\(two)\n".utf8), to: "secrets")
        #expect(try secrets.current == parsed(two))
    }

    @Test(arguments: ["", "# nothing\n", "whsec_broken\n", "plain\n"])
    func `A file that becomes invalid or missing leaves the secrets unchanged`(content: String) throws {
        let folder = try TemporaryFolder()
        let one = Self.secret(of: 24)
        try folder.write(Array(one.utf8), to: "secrets")
        let secrets = try secrets(file: folder.path("secrets"))
        try folder.write(Array(content.utf8), to: "secrets")
        #expect(try secrets.current == parsed(one))
        try FileManager.default.removeItem(atPath: folder.path("secrets"))
        #expect(try secrets.current == parsed(one))
        try folder.write(Array(Self.secret(of: 30).utf8), to: "secrets")
        #expect(try secrets.current == parsed(Self.secret(of: 30)))
    }

    @Test func `Invalid secrets are reported at the start`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: AttachPrepError.self) { try secrets(file: folder.path("none")) }
        try folder.write([], to: "empty")
        #expect(throws: AttachPrepError.self) { try secrets(file: folder.path("empty")) }
        let many = Array(repeating: Self.published, count: Limits.webhookSecretsMax + 1)
        #expect(throws: AttachPrepError.self) { try secrets(many) }
        let error = #expect(throws: AttachPrepError.self) { try secrets([Self.published, "whsec_x"]) }
        #expect(error?.message.hasPrefix("Secret 2 in the list is not base64") == true)
    }
}
