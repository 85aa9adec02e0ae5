import ArgumentParser
import AttachPrep
import AttachPrepModel
import AttachPrepPages
import AttachPrepService
import FoundationEssentials
import MediaTypes
import Synchronization

/// Collects the results of a run and their files for a preview page or report.
final class ReportCollector: Sendable {
    private let kind: ReportPage.Kind
    /// Whether thumbnails are reduced to the size that phones show, because there are many.
    private let shrinksThumbnails: Bool
    private let state: Mutex<State>

    private struct State {
        var limits: EmbeddingLimits
        var items: [Int: ReportItem] = [:]
        var slotsGiven = 0
    }

    /// - Parameter count: the expected number of results.
    init(_ kind: ReportPage.Kind, count: Int) {
        self.kind = kind
        shrinksThumbnails = count > Limits.reportFullThumbnailsMax
        state = Mutex(State(limits: EmbeddingLimits(kind)))
    }

    /// The slot of a result, identified by its position on the page.
    struct Slot: Sendable {
        let collector: ReportCollector
        let number: Int
        var text = NotificationText.sample

        /// Stores a result with its files; a cancelled one is dropped.
        ///
        /// - Parameter folder: the folder of its files; nil if they are not on disk.
        func store(_ manifest: Manifest, in folder: String?, preparer: AttachmentPreparer) async {
            guard manifest.error?.code != .cancelled else { return collector.remove(number) }
            await collector.store(manifest, number: number, folder: folder, text: text, preparer: preparer)
        }

        /// Replaces the manifest of a stored result with the final one, which contains the published URLs.
        func complete(_ manifest: Manifest) {
            collector.state.withLock { $0.items[number]?.manifest = manifest.withoutSecret }
        }
    }

    func slot(_ number: Int, text: NotificationText = .sample) -> Slot {
        Slot(collector: self, number: number, text: text)
    }

    /// The next unused slot.
    func nextSlot(text: NotificationText) -> Slot {
        let number = state.withLock { state in
            defer { state.slotsGiven += 1 }
            return state.slotsGiven
        }
        return slot(number, text: text)
    }

    var items: [ReportItem] {
        state.withLock { state in state.items.sorted { $0.key < $1.key }.map(\.value) }
    }

    private func remove(_ number: Int) {
        state.withLock { _ = $0.items.removeValue(forKey: number) }
    }

    /// Stores a result and those of its files that fit into the embedding budget.
    private func store(
        _ manifest: Manifest, number: Int, folder: String?, text: NotificationText, preparer: AttachmentPreparer
    ) async {
        // A page shows neither the secret nor what it opens.
        var item = ReportItem(manifest: manifest.withoutSecret, text: text)
        if let folder, manifest.sealed == nil {
            item.media.thumbnail = await thumbnail(of: manifest, in: folder, preparer)
            item.media.attachment = await attachment(of: manifest, in: folder, preparer)
            item.media.renditions = await renditions(of: manifest, in: folder, preparer)
        }
        let kept = item
        state.withLock { $0.items[number] = kept }
    }

    private func thumbnail(
        of manifest: Manifest, in folder: String, _ preparer: AttachmentPreparer
    ) async -> EmbeddedFile? {
        guard let thumbnail = manifest.thumbnail else { return nil }
        let path = "\(folder)/\(thumbnail.file)"
        if shrinksThumbnails, thumbnail.bytes > Self.smallBytes {
            let side = Limits.reportThumbnailSidePixels
            guard let previewImage = try? await preparer.previewImage(ofFile: path, sidePixels: side),
                state.withLock({ $0.limits.takesThumbnail(bytes: previewImage.bytes.count) })
            else { return nil }
            let text = Data(previewImage.bytes).base64EncodedString()
            return EmbeddedFile(type: previewImage.type.mimeType, base64: text)
        }
        guard state.withLock({ $0.limits.takesThumbnail(bytes: thumbnail.bytes) }) else { return nil }
        return await Self.file(path, type: thumbnail.mimeType, preparer: preparer)
    }

    private func attachment(
        of manifest: Manifest, in folder: String, _ preparer: AttachmentPreparer
    ) async -> EmbeddedFile? {
        guard let attachment = manifest.attachment,
            state.withLock({ $0.limits.takesAttachment(bytes: attachment.bytes) })
        else { return nil }
        return await Self.file("\(folder)/\(attachment.file)", type: attachment.mimeType, preparer: preparer)
    }

    private func renditions(
        of manifest: Manifest, in folder: String, _ preparer: AttachmentPreparer
    ) async -> [String: EmbeddedFile]? {
        var files: [String: EmbeddedFile] = [:]
        for (key, picture) in (manifest.renditions ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard state.withLock({ $0.limits.takesAttachment(bytes: picture.bytes) }) else { continue }
            files[key] = await Self.file("\(folder)/\(picture.file)", type: picture.type, preparer: preparer)
        }
        return manifest.renditions == nil ? nil : files
    }

    /// Thumbnails up to this size are embedded unchanged.
    private static let smallBytes = 4_000

    private static func file(_ path: String, type: String, preparer: AttachmentPreparer) async -> EmbeddedFile? {
        await preparer.base64(ofFile: path).map { EmbeddedFile(type: type, base64: $0) }
    }
}

extension ReportPage {
    /// The preview page: each result drawn as a notification.
    static func preview(_ items: [ReportItem]) -> ReportPage {
        ReportPage(kind: .preview, title: "Notification preview", subtitle: origin, items: items)
    }

    /// The report of a batch.
    ///
    /// - Parameters:
    ///   - list: the path of its list.
    ///   - left: the number of lines not processed.
    static func batch(_ items: [ReportItem], list: String, seconds: Double, left: Int) -> ReportPage {
        let name = list == "-" ? "standard input" : list.split(separator: "/").last.map(String.init) ?? list
        return ReportPage(
            kind: .report, title: "Batch \(name)", subtitle: origin, seconds: seconds, left: left, items: items)
    }

    private static var origin: String {
        "Created \(Timestamp.text(.now)) by attachprep \(ProductVersion.text). Approximates the display on iOS."
    }
}

extension Limits {
    /// With more results, a report has thumbnails of the size that a phone draws: a page of 5,000 then has 15 MB.
    static let reportFullThumbnailsMax = 400
    /// The side of those thumbnails: 35 points with 3 pixels per point.
    static let reportThumbnailSidePixels = 105
}
