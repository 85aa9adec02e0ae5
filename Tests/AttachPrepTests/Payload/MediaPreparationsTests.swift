import AttachPrep
import AttachPrepModel
import PushPayload
import RichPush
import Testing

/// Which requests a payload leads to: one for each source, with the pictures that the payload has a place for.
struct MediaPreparationsTests {
    private func requests(_ payload: String, targets: [MediaTarget] = []) async throws -> [String] {
        let preparer = FakePreparer()
        var template = AttachmentRequest(source: "")
        template.targets = RequestTargets(targets)
        let search = MediaSearch(targets: template.targets.systems)
        _ = try await PayloadRewriter(Array(payload.utf8), search: search)
            .rewritten(applying: template, prepare: preparer.prepare)
        return preparer.named.sorted()
    }

    @Test func `FCM's shared image is prepared for Android without naming it`() async throws {
        let payload = #"{"topic":"t","notification":{"title":"x","image":"https://c.example/a"}}"#
        #expect(try await requests(payload) == ["https://c.example/a android"])
    }

    @Test func `One source is prepared once for all systems that show it`() async throws {
        let payload =
            #"{"ios_attachments":{"i":"https://c.example/a"},"big_picture":"https://c.example/a","#
            + #""chrome_web_icon":"https://c.example/b","chrome_web_badge":"https://c.example/b"}"#
        #expect(try await requests(payload) == ["https://c.example/a "])
        #expect(
            try await requests(payload, targets: [.android, .web])
                == ["https://c.example/a android,web", "https://c.example/b webIcon,webBadge"])
    }

    @Test func `Web push JSON is prepared for browsers without naming them`() async throws {
        let payload = #"{"title":"t","icon":"https://c.example/i","image":"https://c.example/a"}"#
        #expect(try await requests(payload) == ["https://c.example/a web", "https://c.example/i webIcon"])
    }

    @Test func `An avatar is prepared from its own source when it is named`() async throws {
        let payload = #"{"aps":{},"attach":"https://c.example/a","avatar":"https://c.example/b"}"#
        #expect(try await requests(payload) == ["https://c.example/a "])
        let named = try await requests(payload, targets: [.avatar])
        #expect(named == ["https://c.example/a avatar", "https://c.example/b avatar"])
    }

    @Test func `An alert without media is accepted when its arrival is counted`() async throws {
        let payload = Array(#"{"aps":{"alert":"x","mutable-content":1}}"#.utf8)
        #expect(throws: AttachPrepError.self) { try PayloadRewriter(payload) }
        let preparer = FakePreparer()
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        let result = try await PayloadRewriter(payload, search: MediaSearch(acceptsText: true))
            .rewritten(applying: AttachmentRequest(source: ""), receipt: receipt, prepare: preparer.prepare)
        #expect(preparer.sources.isEmpty && result.isComplete && result.warnings.isEmpty)
        #expect(String(decoding: result.payload, as: UTF8.self).contains(#""attachprep":{"receipt":"#))
    }
}
