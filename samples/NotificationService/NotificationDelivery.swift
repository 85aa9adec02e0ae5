import Foundation
import RichPush
import UserNotifications

#if canImport(os)
    import os
#endif

/// Processes one notification, from its arrival until it is delivered and reported.
///
/// Attachments are tried in order. The thumbnail is fetched when they fail, or in parallel with a slow one, so that it
/// is available when iOS ends the extension early. The content handler is called exactly once.
nonisolated final class NotificationDelivery: Sendable {
    private let settings: DeviceSettings
    private let contentHandler: ContentHandler
    private let plan: FetchPlan
    private let receipt: StoredReceipt?
    private let folder: MediaFolder
    private let start = ProcessInfo.processInfo.systemUptime
    private let best = Locked(BestAttempt())
    /// Signaled after the content was delivered.
    private let shown = OneShotEvent()
    private let fetching = Locked<Task<Void, Never>?>(nil)
    private let reporting = Locked<Task<Void, Never>?>(nil)

    init(_ content: PushContent?, _ settings: DeviceSettings, _ contentHandler: ContentHandler) {
        self.settings = settings
        self.contentHandler = contentHandler
        plan = FetchPlan(content ?? PushContent(attachments: []))
        receipt = content?.receipt.map(StoredReceipt.init)
        folder = MediaFolder(in: settings.mediaFolder)
    }

    func begin() {
        if let receipt { pendingReceipts.keep(receipt) }
        guard !plan.isEmpty else { return handOver([], .text) }
        fetching.set(Task { await fetch() })
    }

    /// Cancels the downloads and delivers the best available content.
    func expire() {
        fetching.value?.cancel()
        handOverBest()
    }

    func finished() async {
        await fetching.value?.value
        await shown.wait()
        await reporting.value?.value
    }

    private var pendingReceipts: PendingReceipts { PendingReceipts(folder: settings.receiptFolder) }

    private var elapsed: Double { ProcessInfo.processInfo.systemUptime - start }

    private func fetch() async {
        MediaFolder.sweep(settings.mediaFolder)
        let fetch = AttachmentDownloader(folder)
        await deliver(fetch)
        fetch.close()
        // Removes files that arrived too late.
        folder.clean()
    }

    /// Fetches attachments and, in parallel, the thumbnail; its download is cancelled once an attachment is delivered.
    private func deliver(_ fetch: AttachmentDownloader) async {
        let thumbnailStart = OneShotEvent(after: settings.deadline.thumbnailAfterSeconds)
        async let thumbnail: Void = fetchThumbnail(fetch, thumbnailStart)
        if await fetchAttachment(fetch) { return }
        thumbnailStart.signal()
        await thumbnail
        handOverBest()
    }

    /// Delivers the first attachment that arrives and that iOS accepts; returns false when there is none.
    private func fetchAttachment(_ fetch: AttachmentDownloader) async -> Bool {
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

    /// Fetches the attachment for the collapsed thumbnail, if it is a different one, with a shorter time limit.
    private func companion(of candidate: FetchCandidate, _ fetch: AttachmentDownloader) async -> AttachmentFile? {
        guard let companion = plan.companion(of: candidate) else { return nil }
        return await file(of: companion, fetch, secondsMax: Limits.deviceThumbnailSeconds)
    }

    private func fetchThumbnail(_ fetch: AttachmentDownloader, _ thumbnailStart: OneShotEvent) async {
        guard !plan.thumbnails.isEmpty else { return }
        await thumbnailStart.wait()
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
        of candidate: FetchCandidate, _ fetch: AttachmentDownloader, secondsMax: Double = .infinity
    ) async -> AttachmentFile? {
        guard let seconds = settings.deadline.secondsLeft(after: elapsed).map({ min($0, secondsMax) }) else {
            DeviceLog.note(.late, candidate)
            return nil
        }
        let result: Result<AttachmentFile, FetchError>
        switch candidate.source {
        case .web(let url): result = await fetch.file(for: candidate, from: url, within: seconds)
        case .bundle(let name): result = folder.copy(name, from: settings.bundleFolders, for: candidate)
        }
        if case .failure(let error) = result { DeviceLog.note(error, candidate) }
        return try? result.get()
    }

    private func handOverBest() {
        let best = best.value
        let attachments = best.files.compactMap { try? $0.attachment() }
        handOver(attachments, attachments.isEmpty ? .text : best.outcome)
    }

    private func handOver(_ attachments: [UNNotificationAttachment], _ outcome: PushReceiptReport.Outcome) {
        let isFirst = contentHandler.handOver(attachments) {
            folder.keep(attachments.map(\.url))
            if let receipt { pendingReceipts.keep(receipt.settled(outcome, after: elapsed)) }
            reporting.set(
                Task { [shown, pendingReceipts] in
                    await shown.wait()
                    await ReceiptSender.shared.send(pendingReceipts)
                })
        }
        guard isFirst else { return }
        folder.clean()
        shown.signal()
    }
}

/// The content to deliver when time runs out.
private nonisolated struct BestAttempt: Sendable {
    var files: [AttachmentFile] = []
    var outcome = PushReceiptReport.Outcome.text
}

/// Calls the content handler of a notification exactly once.
// Sendable because the lock guards the handler, and only the caller that took the handler uses the content.
nonisolated final class ContentHandler: @unchecked Sendable {
    private let lock = NSLock()
    private let content: UNNotificationContent
    private var handler: ((UNNotificationContent) -> Void)?

    init(_ content: UNNotificationContent, _ handler: @escaping (UNNotificationContent) -> Void) {
        self.content = content
        self.handler = handler
    }

    /// Delivers the content with attachments, or unchanged without any; returns false when it was already delivered.
    ///
    /// - Parameter first: Called before the content handler, after which iOS may suspend the extension at any time.
    @discardableResult
    func handOver(_ attachments: [UNNotificationAttachment], first: () -> Void) -> Bool {
        let handler = lock.withLock {
            defer { self.handler = nil }
            return self.handler
        }
        guard let handler else { return false }
        first()
        handler(with(attachments))
        return true
    }

    private func with(_ attachments: [UNNotificationAttachment]) -> UNNotificationContent {
        guard !attachments.isEmpty, let copy = content.mutableCopy() as? UNMutableNotificationContent else {
            return content
        }
        copy.attachments = attachments
        return copy
    }
}

/// Logs the result of each file.
nonisolated enum DeviceLog {
    #if canImport(os)
        private static let logger = Logger(subsystem: "attachprep", category: "notification")
    #endif

    /// Logs ids only: URLs may contain secrets.
    static func note(_ error: FetchError, _ candidate: FetchCandidate) {
        note(candidate, error.rawValue)
    }

    static func noteKept(_ candidate: FetchCandidate) {
        note(candidate, "kept")
    }

    private static func note(_ candidate: FetchCandidate, _ fact: String) {
        #if canImport(os)
            logger.notice("\(candidate.id, privacy: .public): \(fact, privacy: .public)")
        #else
            FileHandle.standardError.write(Data("\(candidate.id): \(fact)\n".utf8))
        #endif
    }
}
