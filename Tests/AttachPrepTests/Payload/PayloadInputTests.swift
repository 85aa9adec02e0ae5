import AttachPrep
import AttachPrepModel
import MediaTypes
import PushPayload
import Testing

/// Arrays of payloads: Expo's push API takes up to 100 messages in one request.
///
/// Source: https://github.com/expo/expo-server-sdk-node, `sendPushNotificationsAsync(messages: ExpoPushMessage[])` and
/// `richContent` in ExpoClient.ts.
struct PayloadInputTests {
    private func expo(_ name: String, to token: String) -> String {
        #"{"to":"ExponentPushToken[\#(token)]","richContent":{"image":"https://c.example/\#(name)"}}"#
    }

    private func rewritten(_ text: String, id: String? = nil) async throws -> (
        text: String, result: PayloadResult, preparer: FakePreparer
    ) {
        let preparer = FakePreparer()
        var template = AttachmentRequest(source: "")
        template.id = id
        let result = try await PayloadInput(Array(text.utf8))
            .rewritten(applying: template) { request, _ in try await preparer.prepare(request) }
        return (String(decoding: result.payload, as: UTF8.self), result, preparer)
    }

    @Test func `Each message of Expo's array is rewritten, and equal sources are prepared once`() async throws {
        let before = "[\(expo("a.jpg", to: "1")), \(expo("b.webp", to: "2")),\n\(expo("a.jpg", to: "3"))]\n"
        let (text, result, preparer) = try await rewritten(before)
        let new = "https://push.example/a/attachment.jpg"
        let after = before.replacing("https://c.example/a.jpg", with: new)
            .replacing("https://c.example/b.webp", with: new)
        #expect(text == after)
        #expect(preparer.sources.sorted() == ["https://c.example/a.jpg", "https://c.example/b.webp"])
        #expect(result.isComplete && result.manifests.count == 2)
    }

    @Test func `A message without media stays unchanged`() async throws {
        let plain = #"{"to":"ExponentPushToken[x]","body":"Hi"}"#
        let (text, _, preparer) = try await rewritten("[\(plain),\(expo("a.jpg", to: "1"))]")
        #expect(text.hasPrefix("[\(plain),") && preparer.sources.count == 1)
    }

    @Test func `Payloads of an array get the neutral object, each its own`() async throws {
        let payload = #"{"aps":{"alert":"a","mutable-content":1},"attach":"https://c.example/a.jpg"}"#
        let (text, _, _) = try await rewritten("[\(payload),\(payload)]")
        #expect(text.ranges(of: #""attachprep":"#).count == 2)
    }

    @Test func `Warnings and errors name the message`() async throws {
        let silent = #"{"aps":{"alert":"a"},"attach":"https://c.example/a.jpg"}"#
        let (_, result, _) = try await rewritten("[\(expo("a.jpg", to: "1")),\(silent)]")
        let warning = try #require(result.warnings.first { $0.code == .mutableContentMissing })
        #expect(warning.message.hasPrefix("[1]: ") && warning.level == .error)
        let long = #"{"aps":{"alert":"\#(String(repeating: "a", count: 5_000))"},"attach":"https://c.example/a.jpg"}"#
        let error = await #expect(throws: AttachPrepError.self) { try await rewritten("[{},\(long)]") }
        #expect(error?.code == .payloadTooLarge && error?.message.hasPrefix("[1]: ") == true)
    }

    @Test(arguments: [("[]", ErrorCode.payloadInvalid), (#"[{"aps":{}}]"#, .payloadNoMedia)])
    func `An array without media is rejected`(text: String, code: ErrorCode) {
        let error = #expect(throws: AttachPrepError.self) { try PayloadInput(Array(text.utf8)) }
        #expect(error?.code == code)
    }

    @Test func `A caller's id gets the index of the message`() async throws {
        let (_, _, preparer) = try await rewritten("[\(expo("a.jpg", to: "1")),\(expo("b.jpg", to: "2"))]", id: "cat")
        #expect(Set(preparer.ids) == ["cat-0", "cat-1"])
    }
}
