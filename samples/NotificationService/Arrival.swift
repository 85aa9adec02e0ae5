import Foundation
import RichPush
import UserNotifications

/// One notification, from its arrival until it is handed over and reported.
///
/// Attachments are tried in their order; the thumbnail is fetched when they fail, or beside one that is slow, so that
/// there is something to show when iOS ends the extension early. Whatever happens, the content goes out once.
final class Arrival: Sendable {
    private let settings: DeviceSettings
    private let delivery: Delivery
    private let plan: FetchPlan
    private let receipt: StoredReceipt?
    private let folder: MediaFolder
    private let start = ProcessInfo.processInfo.systemUptime
    private let best = Guarded(BestAttempt())
    /// When the content was handed over.
    private let shown = Turn()
    private let fetching = Guarded<Task<Void, Never>?>(nil)
    private let reporting = Guarded<Task<Void, Never>?>(nil)

    init(_ content: PushContent?, _ settings: DeviceSettings, _ delivery: Delivery) {
        self.settings = settings
        self.delivery = delivery
        plan = FetchPlan(content ?? PushContent(attachments: []))
        receipt = content?.receipt.map(StoredReceipt.init)
        folder = MediaFolder(in: settings.mediaFolder)
    }

    func begin() {
        if let receipt { box.keep(receipt) }
        guard !plan.isEmpty else { return handOver([], .text) }
        fetching.set(Task { await fetch() })
    }

    /// What there is goes out now; what is on its way is given up.
    func expire() {
        fetching.value?.cancel()
        handOverBest()
    }

    func finished() async {
        await fetching.value?.value
        await shown.comes()
        await reporting.value?.value
    }

    private var box: ReceiptBox { ReceiptBox(folder: settings.receiptFolder) }

    private var elapsed: Double { ProcessInfo.processInfo.systemUptime - start }

    private func fetch() async {
        MediaFolder.sweep(settings.mediaFolder)
        let fetch = AttachmentFetch(folder)
        await deliver(fetch)
        fetch.close()
        // What arrived too late to be handed over.
        folder.clean()
    }

    /// A thumbnail that is still on its way when an attachment was handed over is cancelled by leaving.
    private func deliver(_ fetch: AttachmentFetch) async {
        let turn = Turn(after: settings.deadline.thumbnailAfterSeconds)
        async let thumbnail: Void = fetchThumbnail(fetch, turn)
        if await fetchAttachment(fetch) { return }
        turn.open()
        await thumbnail
        handOverBest()
    }

    /// The first attachment that arrives and that iOS takes is handed over at once; false when there is none.
    private func fetchAttachment(_ fetch: AttachmentFetch) async -> Bool {
        for candidate in plan.attachments where !Task.isCancelled {
            guard let file = await file(of: candidate, fetch) else { continue }
            guard let attachment = try? file.attachment() else {
                DeviceLog.note(.notTaken, candidate)
                continue
            }
            best.set(BestAttempt(files: [file], outcome: .attached))
            let second = await companion(of: candidate, fetch)
            handOver([attachment] + [try? second?.attachment()].compactMap { $0 }, .attached)
            return true
        }
        return false
    }

    /// The picture of the collapsed notification, when it is another one; less time is spent on it.
    private func companion(of candidate: FetchCandidate, _ fetch: AttachmentFetch) async -> AttachmentFile? {
        guard let companion = plan.companion(of: candidate) else { return nil }
        return await file(of: companion, fetch, secondsMax: Limits.deviceThumbnailSeconds)
    }

    private func fetchThumbnail(_ fetch: AttachmentFetch, _ turn: Turn) async {
        guard !plan.thumbnails.isEmpty else { return }
        await turn.comes()
        for candidate in plan.thumbnails where !Task.isCancelled {
            guard let file = await file(of: candidate, fetch) else { continue }
            best.change { best in
                if best.files.isEmpty { best = BestAttempt(files: [file], outcome: .thumbnail) }
            }
            DeviceLog.noteKept(candidate)
            return
        }
    }

    private func file(
        of candidate: FetchCandidate, _ fetch: AttachmentFetch, secondsMax: Double = .infinity
    ) async -> AttachmentFile? {
        guard let seconds = settings.deadline.secondsLeft(after: elapsed).map({ min($0, secondsMax) }) else {
            DeviceLog.note(.late, candidate)
            return nil
        }
        let result: Result<AttachmentFile, FetchRefusal>
        switch candidate.source {
        case .web(let url): result = await fetch.file(for: candidate, from: url, within: seconds)
        case .bundle(let name): result = folder.copy(name, from: settings.bundleFolders, for: candidate)
        }
        if case .failure(let refusal) = result { DeviceLog.note(refusal, candidate) }
        return try? result.get()
    }

    private func handOverBest() {
        let best = best.value
        let attachments = best.files.compactMap { try? $0.attachment() }
        handOver(attachments, attachments.isEmpty ? .text : best.outcome)
    }

    private func handOver(_ attachments: [UNNotificationAttachment], _ outcome: PushReceiptReport.Outcome) {
        let isFirst = delivery.handOver(attachments) {
            folder.keep(attachments.map(\.url))
            if let receipt { box.keep(receipt.settled(outcome, after: elapsed)) }
            reporting.set(
                Task { [shown, box] in
                    await shown.comes()
                    await ReceiptSender.shared.send(box)
                })
        }
        guard isFirst else { return }
        folder.clean()
        shown.open()
    }
}

/// What is shown if nothing better comes.
private struct BestAttempt: Sendable {
    var files: [AttachmentFile] = []
    var outcome = PushReceiptReport.Outcome.text
}
