import AttachPrep
import AttachPrepModel
import MediaTypes
import PushPayload
import Testing

struct PayloadRewriterTests {
    private func rewritten(_ payload: String) async throws -> (text: String, result: PayloadResult, sources: [String]) {
        let preparer = FakePreparer()
        let result = try await PayloadRewriter(PayloadDocument(Array(payload.utf8)))
            .rewritten(applying: AttachmentRequest(source: ""), prepare: preparer.prepare)
        return (String(decoding: result.payload, as: UTF8.self), result, preparer.sources)
    }

    /// docs.aws.amazon.com/sns: one message for both of Apple's environments, each a string of JSON.
    @Test func `Both environments of an SNS message are rewritten with one preparation`() async throws {
        let inner = #"{\"aps\":{\"alert\":\"a\",\"mutable-content\":1},\"attach\":\"https://c.example/a.jpg\"}"#
        let (text, result, sources) = try await rewritten(
            #"{"default":"a","APNS":"\#(inner)","APNS_SANDBOX":"\#(inner)"}"#)
        #expect(sources == ["https://c.example/a.jpg"])
        #expect(result.isComplete && result.warnings.isEmpty && result.manifests.count == 1)
        let value = try PayloadDocument(Array(text.utf8)).value
        #expect(value["APNS"]?.string?.contains("https://push.example/a/attachment.jpg") == true)
        #expect(value["APNS"] == value["APNS_SANDBOX"])
        #expect(!text.contains("c.example"))
    }

    /// https://github.com/CleverTap/CTNotificationService, https://github.com/blueshift-labs/Blueshift-iOS-SDK
    @Test(arguments: [
        #"{"aps":{},"ct_mediaUrl":"https://c.example/a.m4a","ct_mediaType":"audio"}"#,
        #"{"aps":{},"audio_url":"https://c.example/a.m4a"}"#,
    ])
    func `MP3 and MP4 are required for SDKs that save every file under these extensions`(payload: String) async throws {
        let preparer = FakePreparer()
        _ = try await PayloadRewriter(Array(payload.utf8))
            .rewritten(applying: AttachmentRequest(source: ""), prepare: preparer.prepare)
        #expect(preparer.attachmentTypes == [AcceptedTypes([.mp3, .mpeg4])])
    }

    @Test func `The caller's types override those of the dialect`() async throws {
        let preparer = FakePreparer()
        var template = AttachmentRequest(source: "")
        template.attachmentTypes = AcceptedTypes([.mpeg4Audio])
        let payload = #"{"aps":{},"ct_mediaUrl":"https://c.example/a.m4a","ct_mediaType":"audio"}"#
        _ = try await PayloadRewriter(Array(payload.utf8)).rewritten(applying: template, prepare: preparer.prepare)
        #expect(preparer.attachmentTypes == [AcceptedTypes([.mpeg4Audio])])
    }

    @Test func `Each environment keeps its own values`() async throws {
        let (text, _, sources) = try await rewritten(
            #"{"APNS":"{\"aps\":{},\"attach\":\"https://c.example/a.jpg\",\"e\":1}","#
                + #""APNS_SANDBOX":"{\"aps\":{},\"attach\":\"https://c.example/b.jpg\",\"e\":2}"}"#)
        #expect(sources == ["https://c.example/a.jpg", "https://c.example/b.jpg"])
        #expect(text.contains(#"\"e\":1"#) && text.contains(#"\"e\":2"#) && !text.contains("c.example"))
    }

    private static func payload(bytes: Int) -> String {
        let empty = #"{"aps":{"alert":"","mutable-content":1},"attach":"https://c.example/a.jpg"}"#
        let alert = String(repeating: "a", count: bytes - empty.utf8.count)
        return empty.replacing(#""alert":"""#, with: #""alert":"\#(alert)""#)
    }

    @Test func `A payload that only fits with its own URLs is returned as it was, with a warning`() async throws {
        let payload = Self.payload(bytes: 4_096)
        let (text, result, sources) = try await rewritten(payload)
        #expect(text == payload && result.isComplete && sources.count == 1)
        #expect(result.warnings.map(\.code) == [.notRewritten] && result.manifests.count == 1)
    }

    @Test func `A payload that is over the limit itself cannot be rewritten`() async throws {
        await #expect(throws: AttachPrepError.self) { try await rewritten(Self.payload(bytes: 4_097)) }
    }

    @Test func `A sandbox message without media stays unchanged`() async throws {
        let sandbox = #""APNS_SANDBOX":"{\"aps\":{\"alert\":\"a\"}}""#
        let (text, _, sources) = try await rewritten(
            #"{"APNS":"{\"aps\":{},\"attach\":\"https://c.example/a.jpg\"}",\#(sandbox)}"#)
        #expect(sources.count == 1)
        #expect(text.hasSuffix("\(sandbox)}"))
    }

    @Test func `Media that a payload names twice is prepared once`() async throws {
        let (_, result, sources) = try await rewritten(
            #"{"aps":{"alert":"a","mutable-content":1},"#
                + #""_sw":{"media":{"url":"https://c.example/a.jpg","fallback_url":"https://c.example/a.jpg"}}}"#)
        #expect(sources == ["https://c.example/a.jpg"] && result.isComplete)
    }
}
