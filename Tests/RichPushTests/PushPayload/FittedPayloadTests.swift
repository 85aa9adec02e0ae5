import AttachPrepModel
import PushPayload
import RichPush
import Testing

/// Optional parts are removed in the order of `PayloadReduction` until the payload has 4,096 bytes.
struct FittedPayloadTests {
    private let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: String(repeating: "t", count: 80))

    private var prepared: [PreparedMedia] {
        ["a", "b"].map {
            .ready(
                PreparedSample.manifest(
                    at: $0, bytes: 180_000, thumbnail: true, renditions: [MediaTarget.smallerKey, "avatar"]))
        }
    }

    private func payload(_ filler: Int, space: String = "") -> String {
        #"{"aps":{"alert":"\#(String(repeating: "x", count: filler))"},\#(space)"#
            + #""es_notification_images":["https://c/a","https://c/b"]}"#
    }

    private func written(_ filler: Int, space: String = "") throws -> RewrittenPayload {
        try RewrittenPayload(payload(filler, space: space), prepared, receipt: receipt)
    }

    /// The longest filler with which the payload needs at most `reductions` reductions.
    private func longest(reductions: Int) throws -> Int {
        var (fits, over) = (0, 4_200)
        while over - fits > 1 {
            let middle = (fits + over) / 2
            let count = (try? written(middle))?.warnings.count ?? .max
            if count <= reductions { fits = middle } else { over = middle }
        }
        return fits
    }

    @Test func `Optional parts are removed in order, and only as many as needed`() throws {
        let parts = PayloadReduction.allCases.dropFirst().map(\.part)
        for count in 0...parts.count {
            let filler = try longest(reductions: count)
            let written = try written(filler)
            #expect(written.text.utf8.count <= 4_096)
            // One more byte would exceed the limit: no part is removed too early.
            #expect(written.text.utf8.count == 4_096)
            #expect(written.warnings.map(\.code) == Array(repeating: .partDropped, count: count))
            for (warning, part) in zip(written.warnings, parts) { #expect(warning.message.contains(part)) }
            let attachments = try written.value["attachprep"]?["attachments"]?.elements ?? []
            #expect((attachments.first?["smaller"] != nil) == (count < 1))
            #expect((attachments.first?["thumbnail"] != nil) == (count < 2))
            #expect((attachments.last?["thumbnail"] != nil) == (count < 2))
            #expect((attachments.dropFirst().first?["sha256"] != nil) == (count < 3))
            #expect((attachments.dropFirst().first?["bytes"] != nil) == (count < 3))
            #expect((attachments.count == 2) == (count < 4))
            #expect((try written.value["attachprep"]?["avatar"] != nil) == (count < 5))
            #expect((try written.value["attachprep"]?["receipt"] != nil) == (count < 6))
            #expect((attachments.first?["sha256"] != nil) == (count < 7))
            #expect((try written.value["attachprep"] != nil) == (count < 8))
            #expect(try written.value["es_notification_images"]?[1]?.string == "https://push.example/b/attachment.jpg")
        }
    }

    @Test func `Whitespace is removed first, if there is any`() throws {
        let filler = try longest(reductions: 0)
        let written = try written(filler, space: "\n \t")
        #expect(written.text.utf8.count == 4_096)
        #expect(written.warnings.count == 1)
        #expect(written.warnings[0].message.contains(PayloadReduction.whitespace.part))
        #expect(try written.value["attachprep"]?["attachments"]?[0]?["thumbnail"] != nil)
    }

    @Test func `Whitespace around the payload counts toward its size`() throws {
        let text = payload(try longest(reductions: 0)) + "\n"
        let written = try RewrittenPayload(text, prepared, receipt: receipt)
        #expect(written.text.utf8.count == 4_096)
        #expect(written.warnings.count == 1)
    }

    @Test func `A payload that cannot fit is rejected with its size and its longest value`() throws {
        let filler = try longest(reductions: 8) + 1
        let error = #expect(throws: PayloadError.self) { try written(filler) }
        #expect(error?.code == .payloadTooLarge)
        #expect(
            error?.message
                == "The payload is 4,097 bytes after all optional parts were dropped, over the 4,096 of APNs; "
                + "shorten it by 1, for example aps.alert, which takes \((filler + 2).formattedWithCommas).")
    }

    @Test func `In an envelope, only the APNs payload counts`() throws {
        let other = String(repeating: "o", count: 5_000)
        let inner = #"{"aps":{"alert":"\#(String(repeating: "\u{e9}", count: 1_800))"}, "attach":"https://c/a"}"#
        let spelled = inner.replacing("\"", with: "\\\"").replacing("é", with: "\\u00e9")
        let envelope = #"{ "default":"\#(other)", "APNS":"\#(spelled)"}"#
        let written = try RewrittenPayload(envelope, [.ready(PreparedSample.manifest(thumbnail: true))])
        let text = try #require(try written.value["APNS"]?.string)
        #expect(text.utf8.count <= 4_096)
        #expect(text.contains("attachprep"))
        #expect(written.text.hasPrefix(#"{ "default":"\#(other)", "APNS":"#))
    }

    @Test func `Every reduction names the removed part and the reason`() {
        for reduction in PayloadReduction.allCases {
            #expect(!reduction.part.isEmpty && !reduction.reason.isEmpty)
        }
        #expect(Set(PayloadReduction.allCases.map(\.part)).count == 9)
    }
}

extension Int {
    fileprivate var formattedWithCommas: String {
        self < 1_000 ? "\(self)" : "\(self / 1_000),\(String("\(self)".suffix(3)))"
    }
}
