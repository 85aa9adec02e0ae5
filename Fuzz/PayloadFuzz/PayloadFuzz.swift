import FuzzSupport

@testable import RichPush

/// Payloads as strangers write them: read, edited, and written with media that arrives or does not.
@main enum PayloadFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            let choice = Int(input.byte())
            guard let document = try? PayloadDocument(input.rest()) else { return }
            spell(document)
            let media = try? PayloadReader.media(in: document.value, dialect: nil)
            for warning in PayloadCheck.warnings(for: document.value, media: media) + (media?.warnings ?? []) {
                Invariant.hold(isPlain(warning.message), "a terminal is told nothing")
            }
            guard let media else { return }
            try write(document, media, media.items.indices.map { PreparedInput.all[(choice + $0 * $0) % 6] })
            try write(document, media, media.items.map { _ in PreparedInput.all[choice % 6] })
        }
    }

    /// What is spelled anew, and what is compacted, says the same.
    private static func spell(_ document: PayloadDocument) {
        let compacted = document.compacted()
        Invariant.hold(compacted.value == document.value, "whitespace means nothing")
        Invariant.hold(compacted.bytes.count <= document.bytes.count, "a compact payload is no longer")
        let spelled = PayloadLayout.compact.spelled(document.value)
        let again = try? PayloadDocument(spelled)
        Invariant.hold(again?.value == document.value, "a payload spelled again reads the same")
        Invariant.hold(again?.compacted().bytes == spelled, "and is spelled the same")
    }

    private static func write(_ document: PayloadDocument, _ media: PayloadMedia, _ prepared: [PreparedMedia]) throws {
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        do {
            let written = try PayloadWriter.write(document, media: media, prepared: prepared, receipt: receipt)
            let result = try PayloadDocument(written.bytes)
            // A request need not have a payload.
            let payload = (try? result.bytes(at: media.root).count) ?? 0
            let isRequest = result.value.standing(at: media.root)?[PushContent.key] == nil
            Invariant.hold(payload <= Limits.payloadBytesMax || isRequest, "a payload fits, or is a request to an API")
            for warning in written.warnings { Invariant.hold(isPlain(warning.message), "a terminal is told nothing") }
            try compare(result, with: document, media, prepared)
            try writeAgain(result, media, prepared, receipt)
        } catch let error as AttachPrepError where error.code == .payloadTooLarge {
            Invariant.hold(isPlain(error.message), "a terminal is told nothing")
        }
    }

    /// What was delivered stands where its address was, unless its key or an element before it changed.
    private static func compare(
        _ result: PayloadDocument, with document: PayloadDocument, _ media: PayloadMedia, _ prepared: [PreparedMedia]
    ) throws {
        for case (let item, .untouched) in zip(media.items, prepared) {
            guard case .key = item.path.steps.last, item.path.steps.allSatisfy({ !$0.isIndex }) else { continue }
            let before = document.value.standing(at: item.path)
            Invariant.hold(result.value.standing(at: item.path) == before, "what is not ours stays")
        }
        let top = document.value.members?.map(\.key) ?? []
        let apart: Set<String> = Set(
            media.items.flatMap { item in
                ([item.path] + item.fields.values).compactMap { $0.steps.first?.key }
            })
        for key in top where !apart.contains(key) && key != PushContent.key && media.root.steps.isEmpty {
            Invariant.hold(
                result.value[key] == document.value[key], "a stranger's member stays: \(key.debugDescription)")
        }
    }

    /// Written twice is written once, where the same media is found again.
    private static func writeAgain(
        _ once: PayloadDocument, _ media: PayloadMedia, _ prepared: [PreparedMedia], _ receipt: PushReceipt
    ) throws {
        guard let again = try? PayloadReader.media(in: once.value, dialect: nil),
            again.items.map(\.path) == media.items.map(\.path), again.items.map(\.place) == media.items.map(\.place)
        else { return }
        let twice = try PayloadWriter.write(once, media: again, prepared: prepared, receipt: receipt)
        Invariant.hold(twice.bytes == once.bytes, "a payload that is written twice is the same as once")
    }

    private static func isPlain(_ text: String) -> Bool {
        // What a terminal obeys: C0, delete and C1.
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}

extension PayloadPath.Step {
    fileprivate var isIndex: Bool {
        if case .index = self { true } else { false }
    }

    fileprivate var key: String? {
        if case .key(let key) = self { key } else { nil }
    }
}
