import Foundation
import RichPush
import RichPushReceipts
public import UserNotifications

/// Processes one notification, from its arrival until it is delivered and reported, for apps whose extension has a
/// class of its own.
///
/// ```swift
/// override func didReceive(
///     _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
/// ) {
///     delivery = RichPushDelivery(request: request, contentHandler: contentHandler)
///     delivery?.begin()
/// }
///
/// override func serviceExtensionTimeWillExpire() { delivery?.expire() }
/// ```
@available(iOS 15, macOS 12, *)
public final class RichPushDelivery: Sendable {
    /// Changes what is shown, as ``RichPushService/modify(_:attachments:)`` describes.
    public typealias Modification =
        @concurrent @Sendable (
            UNMutableNotificationContent, [UNNotificationAttachment]
        ) async -> UNNotificationContent

    private let settings: RichPushSettings
    private let contentHandler: ContentHandler
    /// Nil after delivery, so that an extension that holds this object and is held by the closure can be released.
    private let modification: Locked<Modification?>
    private let receipt = Locked<StoredReceipt?>(nil)
    private let folder: MediaFolder
    private let start = ProcessInfo.processInfo.systemUptime
    /// Signaled after the content was delivered.
    private let shown = OneShotEvent()
    private let processing = Locked<Task<Void, Never>?>(nil)
    private let reporting = Locked<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - request: The notification.
    ///   - settings: By default those of the Info.plist.
    ///   - modify: Changes what is shown; nil to leave it.
    ///   - contentHandler: iOS's handler; it is called exactly once, by ``expire()`` at the latest.
    public init(
        request: UNNotificationRequest, settings: RichPushSettings = RichPushSettings(), modify: Modification? = nil,
        contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        self.settings = settings
        self.contentHandler = ContentHandler(request.content, contentHandler)
        modification = Locked(modify)
        folder = MediaFolder(in: settings.mediaFolder)
    }

    /// Begins to fetch and returns at once; further calls have no effect.
    public func begin() {
        let isFirst = processing.change { processing in
            guard processing == nil else { return false }
            processing = Task { await process() }
            return true
        }
        guard isFirst else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + settings.timeoutSeconds) { [weak self] in self?.expire() }
    }

    /// Delivers the best available content and cancels what is in progress; call it when iOS ends the extension.
    public func expire() {
        // First, because a `modify` that returns early when it is cancelled would replace the best content.
        deliver()
        processing.value?.cancel()
    }

    package func finished() async {
        await shown.wait()
        await reporting.value?.value
        await processing.value?.value
    }

    private var elapsed: Double { ProcessInfo.processInfo.systemUptime - start }

    private func process() async {
        keepReceipt(of: content)
        await setText()
        // It may have been encrypted.
        let content = content
        keepReceipt(of: content)
        if let content, !content.attachments.isEmpty || content.avatar != nil {
            let plan = FetchPlan(
                content, kinds: settings.kindPriorities, network: await NetworkPath.current(),
                limits: settings.networkLimits)
            if !plan.isEmpty { await attach(plan) }
        }
        deliver()
        // Removes files that arrived too late.
        folder.close()
    }

    private var content: PushContent? {
        PushContent(
            userInfo: contentHandler.userInfo, mediaKeys: settings.mediaKeys, languages: settings.languages)
    }

    /// Stores the receipt before anything can fail; iOS may kill the extension at any time.
    private func keepReceipt(of content: PushContent?) {
        guard receipt.value == nil, let stored = content?.receipt.map(StoredReceipt.init) else { return }
        receipt.set(stored)
        settings.pendingReceipts.keep(stored)
    }

    /// Shows files as soon as they arrive: the thumbnail until an attachment is there, then the attachments.
    private func attach(_ plan: FetchPlan) async {
        MediaFolder.sweep(settings.mediaFolder)
        let fetch = MediaFetch(plan, settings, folder, start: start)
        defer { fetch.close() }
        let arrivals = AsyncStream.makeStream(of: MediaFetch.Arrival.self)
        async let _: Void = fetch.run(into: arrivals.continuation)
        var best = MediaFetch.Arrival(files: [], outcome: .text)
        var iterator = arrivals.stream.makeAsyncIterator()
        // Not `for await`, which uses a method of iOS 18 where it can.
        while let arrival = await iterator.next() {
            // A thumbnail may arrive while the second attachment is fetched.
            if best.outcome == .attached, arrival.outcome == .thumbnail { continue }
            DeviceLog.noteKept(arrival.files)
            best.add(arrival)
            await setAttachments(best)
        }
        deliver()
    }

    private func setText() async {
        guard let modify = modification.value, let copy = contentHandler.copy(with: []) else { return }
        contentHandler.setText(await modify(copy, []))
    }

    private func setAttachments(_ arrival: MediaFetch.Arrival) async {
        let attachments = arrival.files.compactMap { try? $0.attachment() }
        contentHandler.setAttachments(attachments, arrival.outcome ?? .text)
        guard let modify = modification.value, let copy = contentHandler.copy(with: attachments) else { return }
        // The sender's picture is not shown as an attachment.
        let avatar = arrival.avatar.flatMap { try? $0.attachment() }
        contentHandler.setContent(await modify(copy, attachments + [avatar].compactMap { $0 }))
    }

    private func deliver() {
        let isFirst = contentHandler.deliver { attachments, outcome in
            folder.keep(attachments.map(\.url))
            let receipts = settings.pendingReceipts
            if let receipt = receipt.value { receipts.keep(receipt.settled(outcome, after: elapsed)) }
            reporting.set(
                Task { [shown] in
                    await shown.wait()
                    await ReceiptSender.shared.send(receipts)
                })
        }
        guard isFirst else { return }
        modification.set(nil)
        folder.clean()
        shown.signal()
    }
}
