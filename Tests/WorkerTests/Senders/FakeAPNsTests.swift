import Crypto
import Foundation
import TestSupport
import Testing

/// The fake APNs rejects what APNs rejects; otherwise the tests of the senders would show nothing.
@Suite(.timeLimit(.minutes(2))) struct FakeAPNsTests {
    private static let device = String(repeating: "ab", count: 32)

    /// A provider token as Apple describes it.
    private static func token(
        key: P256.Signing.PrivateKey, id: String = "ABC123DEFG", team: String = "DEF123GHIJ", ageSeconds: Double = 0
    ) throws -> String {
        func encoded(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let issued = Int(Date().timeIntervalSince1970 - ageSeconds)
        let content =
            encoded(Data(#"{"alg":"ES256","kid":"\#(id)"}"#.utf8)) + "."
            + encoded(Data(#"{"iss":"\#(team)","iat":\#(issued)}"#.utf8))
        return "\(content).\(encoded(try key.signature(for: Data(content.utf8)).rawRepresentation))"
    }

    /// Sends one request with curl over a connection of its own; returns status and reason.
    private static func answer(
        of apns: FakeAPNs, token: String?, device: String = device, payload: String = "{}", method: String = "POST",
        headers: [String: String?] = [:]
    ) async throws -> String {
        var fields: [String: String?] = [
            "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "0",
            "apns-collapse-id": "one", "authorization": token.map { "bearer \($0)" },
        ]
        fields.merge(headers) { $1 }
        let given = fields.flatMap { name, value in value.map { ["--header", "\(name): \($0)"] } ?? [] }
        let result = try await RunCommand(
            "curl",
            [
                "--silent", "--show-error", "--http2", "--cacert", apns.folder.path("ca.pem"), "--request", method,
                "--data-binary", "@-", "--write-out", "\n%{http_code}", "\(apns.url)/3/device/\(device)",
            ] + given, input: Array(payload.utf8)
        ).run()
        let lines = result.lines
        let body = try? JSONSerialization.jsonObject(with: Data((lines.first ?? "").utf8)) as? [String: Any]
        return "\(lines.last ?? result.errorText) \(body?["reason"] ?? "")"
    }

    @Test func `The fake APNs answers as APNs does`() async throws {
        let apns = try await FakeAPNs.start(delaySeconds: 0)
        let key = try P256.Signing.PrivateKey(
            pemRepresentation: String(contentsOfFile: apns.folder.path("AuthKey.p8"), encoding: .utf8))
        let token = try Self.token(key: key)
        func answer(_ headers: [String: String?]) async throws -> String {
            try await Self.answer(of: apns, token: token, headers: headers)
        }
        func answer(token: String?) async throws -> String { try await Self.answer(of: apns, token: token) }
        func answer(payload: Int) async throws -> String {
            try await Self.answer(of: apns, token: token, payload: String(repeating: "x", count: payload))
        }
        func answer(device: String) async throws -> String {
            try await Self.answer(of: apns, token: token, device: device)
        }
        #expect(try await answer([:]) == "200 ")
        #expect(try await answer(token: nil) == "403 MissingProviderToken")
        #expect(try await answer(token: Self.token(key: P256.Signing.PrivateKey())) == "403 InvalidProviderToken")
        #expect(try await answer(token: Self.token(key: key, id: "ANOTHER123")) == "403 InvalidProviderToken")
        #expect(try await answer(token: Self.token(key: key, team: "ANOTHER123")) == "403 InvalidProviderToken")
        #expect(try await answer(token: Self.token(key: key, ageSeconds: 3_700)) == "403 ExpiredProviderToken")
        #expect(try await answer(token: Self.token(key: key, ageSeconds: 3_500)) == "200 ")
        #expect(try await answer(token: Self.token(key: key, ageSeconds: -600)) == "403 InvalidProviderToken")
        #expect(try await answer(["apns-topic": nil]) == "400 MissingTopic")
        #expect(try await answer(["apns-topic": "com.example.other"]) == "400 TopicDisallowed")
        #expect(try await answer(["apns-push-type": nil]) == "400 InvalidPushType")
        #expect(try await answer(["apns-priority": "7"]) == "400 BadPriority")
        #expect(try await answer(["apns-expiration": "tomorrow"]) == "400 BadExpirationDate")
        #expect(try await answer(["apns-id": "one"]) == "400 BadMessageId")
        #expect(try await answer(["apns-collapse-id": String(repeating: "é", count: 32)]) == "200 ")
        #expect(try await answer(["apns-collapse-id": String(repeating: "é", count: 32) + "x"]) == "400 BadCollapseId")
        #expect(try await answer(payload: 4_096) == "200 ")
        #expect(try await answer(payload: 4_097) == "413 PayloadTooLarge")
        #expect(try await answer(payload: 0) == "400 PayloadEmpty")
        #expect(try await answer(device: "") == "400 MissingDeviceToken")
        #expect(try await answer(device: String(repeating: "xy", count: 32)) == "400 BadDeviceToken")
        #expect(try await answer(device: "\(Self.device)/more") == "404 BadPath")
        #expect(try await Self.answer(of: apns, token: token, method: "PUT") == "405 MethodNotAllowed")
        #expect(try await apns.stop().count == 23)
    }
}
