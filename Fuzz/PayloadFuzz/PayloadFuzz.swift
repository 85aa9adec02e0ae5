import FuzzSupport

@testable import AttachPrepModel
@testable import PushPayload
@testable import RichPush

/// Fuzzes parsing and editing of payloads, and writing prepared or failed media into them.
@main enum PayloadFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            let choice = Int(input.byte())
            guard let document = try? PayloadDocument(input.rest()) else { return }
            spell(document)
            let media = try? PayloadReader.media(in: document.value, dialect: nil)
            for warning in PayloadCheck.warnings(for: document.value, media: media) + (media?.warnings ?? []) {
                Invariant.hold(isPlain(warning.message), "no control characters")
            }
            guard let media else { return }
            try write(document, media, media.items.indices.map { PreparedInput.all[(choice + $0 * $0) % 6] })
            try write(document, media, media.items.map { _ in PreparedInput.all[choice % 6] })
        }
    }

    /// Serializing and compacting must not change the value.
    private static func spell(_ document: PayloadDocument) {
        let compacted = document.compacted()
        Invariant.hold(compacted.value == document.value, "compacting does not change the value")
        Invariant.hold(compacted.bytes.count <= document.bytes.count, "a compact payload is no longer")
        let serialized = JSONLayout.compact.serialized(document.value)
        let again = try? PayloadDocument(serialized)
        Invariant.hold(again?.value == document.value, "a serialized payload parses to the same value")
        Invariant.hold(again?.compacted().bytes == serialized, "serializing is idempotent")
    }

    private static func write(_ document: PayloadDocument, _ media: PayloadMedia, _ prepared: [PreparedMedia]) throws {
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        do {
            let written = try PayloadWriter.write(document, media: media, prepared: prepared, receipt: receipt)
            let result = try PayloadDocument(written.bytes)
            // A request may have no APNs payload.
            let payload = (try? result.bytes(at: media.root).count) ?? 0
            let isRequest = result.value.value(at: media.root)?[PushContent.key] == nil
            Invariant.hold(payload <= Limits.payloadBytesMax || isRequest, "a payload fits, or is a request to an API")
            for warning in written.warnings { Invariant.hold(isPlain(warning.message), "no control characters") }
            try compare(result, with: document, media, prepared)
            try writeAgain(result, media, prepared, receipt)
        } catch let error as PayloadError where error.code == .payloadTooLarge {
            Invariant.hold(isPlain(error.message), "no control characters")
        }
    }

    /// A prepared item must be at the path of its original address, unless its key or an element before it changed.
    private static func compare(
        _ result: PayloadDocument, with document: PayloadDocument, _ media: PayloadMedia, _ prepared: [PreparedMedia]
    ) throws {
        for case (let item, .untouched) in zip(media.items, prepared) {
            guard case .key = item.path.steps.last, item.path.steps.allSatisfy({ !$0.isIndex }) else { continue }
            let before = document.value.value(at: item.path)
            Invariant.hold(result.value.value(at: item.path) == before, "untouched media is unchanged")
        }
        let top = document.value.members?.map(\.key) ?? []
        let apart: Set<String> = Set(
            media.items.flatMap { item in
                ([item.path] + item.fields.values).compactMap { $0.steps.first?.key }
                    + item.location.companions.compactMap(\.firstKey)
                    + (item.location.alternativeText == nil ? [] : ["aps", "_mediaAlt"])
            })
        for key in top where !apart.contains(key) && key != PushContent.key && media.root.steps.isEmpty {
            Invariant.hold(
                result.value[key] == document.value[key], "other members are unchanged: \(key.debugDescription)")
        }
    }

    /// Writing must be idempotent when the same media is found again.
    private static func writeAgain(
        _ once: PayloadDocument, _ media: PayloadMedia, _ prepared: [PreparedMedia], _ receipt: PushReceipt
    ) throws {
        guard let again = try? PayloadReader.media(in: once.value, dialect: nil),
            again.items.map(\.path) == media.items.map(\.path),
            again.items.map(\.location) == media.items.map(\.location)
        else { return }
        let twice = try PayloadWriter.write(once, media: again, prepared: prepared, receipt: receipt)
        Invariant.hold(twice.bytes == once.bytes, "writing is idempotent")
    }

    private static func isPlain(_ text: String) -> Bool {
        // Control characters: C0, DEL and C1.
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}

extension PayloadPattern {
    fileprivate var firstKey: String? {
        if case .key(let key) = steps.first { key } else { nil }
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
