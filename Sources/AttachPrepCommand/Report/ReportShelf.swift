import AttachPrep
import AttachPrepPages
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Results of a run and their files, kept until the page about them is written.
final class ReportShelf: Sendable {
    private let kind: ReportPage.Kind
    /// Whether thumbnails are kept as small as phones draw them: there are many.
    private let keepsMiniatures: Bool
    private let state: Mutex<State>

    private struct State {
        var budget: EmbeddingBudget
        var items: [Int: ReportItem] = [:]
        var placesGiven = 0
    }

    /// - Parameter count: how many results there will be.
    init(_ kind: ReportPage.Kind, count: Int) {
        self.kind = kind
        keepsMiniatures = count > Limits.reportFullThumbnailsMax
        state = Mutex(State(budget: EmbeddingBudget(kind)))
    }

    /// The place of one result, by its number on the page.
    struct Place: Sendable {
        let shelf: ReportShelf
        let number: Int
        var text = NotificationText.sample

        /// - Parameter folder: where its files are now; nil where they are on no disk of ours.
        func keep(_ manifest: Manifest, in folder: String?, _ preparer: AttachmentPreparer) async {
            guard manifest.error?.code != .cancelled else { return shelf.forget(number) }
            await shelf.keep(manifest, number: number, folder: folder, text: text, preparer: preparer)
        }

        /// What is known of it at its end, of files that were kept before.
        func complete(_ manifest: Manifest) {
            shelf.state.withLock { $0.items[number]?.manifest = manifest }
        }
    }

    func place(_ number: Int, text: NotificationText = .sample) -> Place {
        Place(shelf: self, number: number, text: text)
    }

    /// A place after those that were given before.
    func nextPlace(text: NotificationText) -> Place {
        let number = state.withLock { state in
            defer { state.placesGiven += 1 }
            return state.placesGiven
        }
        return place(number, text: text)
    }

    /// The results in the order of their numbers.
    var items: [ReportItem] {
        state.withLock { state in state.items.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// What was called off is no result, whatever there was of it.
    private func forget(_ number: Int) {
        state.withLock { _ = $0.items.removeValue(forKey: number) }
    }

    /// Keeps a result and those of its files for which there is room.
    private func keep(
        _ manifest: Manifest, number: Int, folder: String?, text: NotificationText, preparer: AttachmentPreparer
    ) async {
        var item = ReportItem(manifest: manifest, text: text)
        if let folder {
            item.media.thumbnail = await thumbnail(of: manifest, in: folder, preparer)
            item.media.attachment = await attachment(of: manifest, in: folder, preparer)
        }
        let kept = item
        state.withLock { $0.items[number] = kept }
    }

    private func thumbnail(
        of manifest: Manifest, in folder: String, _ preparer: AttachmentPreparer
    ) async -> EmbeddedFile? {
        guard let thumbnail = manifest.thumbnail else { return nil }
        let path = "\(folder)/\(thumbnail.file)"
        if keepsMiniatures, thumbnail.bytes > Self.smallBytes {
            let side = Limits.reportThumbnailSidePixels
            guard let miniature = try? await preparer.miniature(ofFile: path, sidePixels: side),
                state.withLock({ $0.budget.takesThumbnail(bytes: miniature.bytes.count) })
            else { return nil }
            let text = Data(miniature.bytes).base64EncodedString()
            return EmbeddedFile(type: miniature.type.mimeType, base64: text)
        }
        guard state.withLock({ $0.budget.takesThumbnail(bytes: thumbnail.bytes) }) else { return nil }
        return await Self.file(path, type: thumbnail.mimeType, preparer)
    }

    private func attachment(
        of manifest: Manifest, in folder: String, _ preparer: AttachmentPreparer
    ) async -> EmbeddedFile? {
        guard let attachment = manifest.attachment,
            state.withLock({ $0.budget.takesAttachment(bytes: attachment.bytes) })
        else { return nil }
        return await Self.file("\(folder)/\(attachment.file)", type: attachment.mimeType, preparer)
    }

    /// What is not worth being made smaller.
    private static let smallBytes = 4_000

    private static func file(_ path: String, type: String, _ preparer: AttachmentPreparer) async -> EmbeddedFile? {
        await preparer.base64(ofFile: path).map { EmbeddedFile(type: type, base64: $0) }
    }
}
