import AttachPrepModel
import Foundation
import PushPayload
import RichPush
import TestSupport
import Testing

/// For every dialect, everything but the media is unchanged, key by key and byte by byte.
struct PayloadRoundTripTests {
    /// A payload of a dialect: the samples of `DialectSample`, and the files of `samples/payloads`.
    struct RoundTripSample: CustomTestStringConvertible {
        let dialect: String
        let text: String

        var testDescription: String { dialect }

        static let all = dialectSamples + sampleFiles

        private static let dialectSamples = DialectSample.all.map { sample in
            RoundTripSample(
                dialect: sample.dialect,
                text: "{ \"aps\":{\"alert\":\"Hi\",\"mutable-content\":1.0} ,\r\n\(sample.members)\n}")
        }

        private static let sampleFiles: [RoundTripSample] = {
            let folder = SourceTree.path("samples/payloads")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
                FileManager.default.contents(atPath: "\(folder)/\(name)").map {
                    RoundTripSample(dialect: String(name.dropLast(5)), text: String(decoding: $0, as: UTF8.self))
                }
            }
        }()
    }

    private struct RoundTrip {
        let before: PayloadDocument
        let media: PayloadMedia
        let written: WrittenPayload
        let after: PayloadDocument

        init(_ sample: RoundTripSample, _ prepare: (PayloadMediaItem, Int) -> PreparedMedia) throws {
            before = try PayloadDocument(Array(sample.text.utf8))
            media = try PayloadReader.media(in: before.value, dialect: try PayloadDialect.named(sample.dialect))
            let prepared = media.items.enumerated().map { prepare($0.element, $0.offset) }
            written = try PayloadWriter.write(before, media: media, prepared: prepared)
            after = try PayloadDocument(written.bytes)
        }

        var touched: Set<PayloadPath> { Set(media.items.flatMap { [$0.path] + $0.fields.values }) }
        var neutral: PayloadPath { media.root.appending(.key(PushContent.key)) }

        func leaves(_ document: PayloadDocument) -> [PayloadPath: PayloadValue] {
            PayloadLeaves(document.value, opening: [neutral] + Array(touched)).values
        }
    }

    private static let types: [AttachmentType] = [.jpeg, .gif, .mpeg4, .mp3]

    private func starts(_ path: PayloadPath, with other: PayloadPath) -> Bool {
        path.steps.starts(with: other.steps)
    }

    @Test(arguments: RoundTripSample.all)
    func `Prepared media changes only its own keys`(sample: RoundTripSample) throws {
        for type in Self.types {
            let trip = try RoundTrip(sample) { item, index in
                guard case .url = item.address else { return .untouched }
                return PreparedSample.ready(type, at: "\(index)") { $0.apply(item.options) }
            }
            let (before, after) = (trip.leaves(trip.before), trip.leaves(trip.after))
            for (path, value) in before where !trip.touched.contains(where: { starts(path, with: $0) }) {
                #expect(after[path] == value, "\(path)")
            }
            var inverse: [PayloadEdit] =
                after.keys.contains { starts($0, with: trip.neutral) } ? [.remove(trip.neutral)] : []
            var restored = trip.after
            for (index, item) in trip.media.items.enumerated() {
                guard case .url = item.address else { continue }
                let url = PayloadValue.string("https://push.example/\(index)/attachment.\(type.fileExtension)")
                let location = try #require(after.first { $0.key.parent == item.path.parent && $0.value == url }?.key)
                if location != item.path, case .key(let key)? = item.path.steps.last {
                    #expect(item.location.keys.contains { location.steps.last == .key($0.key) })
                    inverse.append(.rename(location, to: key))
                }
                inverse += item.fields.values.sorted { $0.description < $1.description }.compactMap { field in
                    before[field].flatMap { old in after[field] == old ? nil : .replace(field, old) }
                }
                inverse.append(.replace(item.path, try #require(before[item.path])))
            }
            let added = after.keys.filter { path in
                before[path] == nil && !starts(path, with: trip.neutral)
                    && trip.media.items.contains { $0.fields[.type] == nil && $0.location.fields[.type] != nil }
                    && !trip.media.items.contains {
                        $0.path.parent == path.parent && $0.location.keys.contains { path.steps.last == .key($0.key) }
                    }
            }
            inverse += added.map(PayloadEdit.remove)
            try restored.apply(inverse)
            #expect(
                String(decoding: restored.bytes, as: UTF8.self) == String(decoding: trip.before.bytes, as: UTF8.self))
        }
    }

    /// Elements after a removed one have other indices.
    private func hasMoved(
        _ path: PayloadPath, _ value: PayloadValue, to leaves: [PayloadPath: PayloadValue]
    ) -> Bool {
        let isInArray = path.steps.contains { if case .index = $0 { true } else { false } }
        return isInArray && leaves.values.contains(value)
    }

    /// Values at keys that an app defines stay.
    @Test(arguments: RoundTripSample.all.filter { !["json-text", "live-activity"].contains($0.dialect) })
    func `Failed media removes only its own keys`(sample: RoundTripSample) throws {
        let trip = try RoundTrip(sample) { _, _ in PreparedSample.failed }
        let (before, after) = (trip.leaves(trip.before), trip.leaves(trip.after))
        // The reference to a thumbnail, members that belong to the media, and the text that is shown instead of it.
        let names: [PayloadPath.Step] = [
            .key("thumbnail_id"), .key("lazy"), .key("options"), .key("attachment_expires"), .key("_mediaAlt"),
            .key("alert"),
        ]
        for (path, value) in before where after[path] != value {
            let isOwn = trip.touched.contains { starts(path, with: $0) }
            #expect(
                isOwn || names.contains(where: path.steps.contains) || hasMoved(path, value, to: after), "\(path)")
        }
        let kept = before.filter { !trip.touched.contains($0.key) }
        for (path, value) in after where path.steps.count > 1 {
            let isAlternative = path.steps.contains(.key("alert")) && kept.values.contains(value)
            #expect(kept[path] == value || isAlternative || hasMoved(path, value, to: kept), "\(path)")
        }
        #expect(trip.written.warnings.filter { $0.code == .mediaRemoved }.count == trip.media.items.count)
    }
}

extension AttachmentOptions {
    /// Sets the requested options.
    fileprivate mutating func apply(_ requested: PayloadMediaOptions) {
        thumbnailHidden = requested.thumbnailHidden
        thumbnailClippingRect = requested.clippingRect
        thumbnailTime = requested.thumbnailTime.map { .movie(MovieTime(seconds: $0)) }
    }
}

/// The scalar values of a payload by path. JSON in the given strings is parsed.
struct PayloadLeaves {
    private(set) var values: [PayloadPath: PayloadValue] = [:]
    private let opened: Set<PayloadPath>

    init(_ value: PayloadValue, opening paths: [PayloadPath]) {
        opened = Set(
            paths.flatMap { path in
                path.steps.indices.filter { path.steps[$0] == .text }.map { PayloadPath(Array(path.steps[..<$0])) }
            })
        add(value, at: PayloadPath())
    }

    private mutating func add(_ value: PayloadValue, at path: PayloadPath) {
        switch value {
        case .object(let members) where !members.isEmpty:
            for member in members { add(member.value, at: path.appending(.key(member.key))) }
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() { add(element, at: path.appending(.index(index))) }
        case .string(let text) where opened.contains(path):
            if let embedded = try? PayloadValue(json: Array(text.utf8)) { add(embedded, at: path.appending(.text)) }
        default: values[path] = value
        }
    }
}
