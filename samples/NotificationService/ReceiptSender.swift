import Foundation
import RichPush

/// Reports arrivals, one loop at a time, after the notification was handed over.
actor ReceiptSender {
    static let shared = ReceiptSender()

    private var isSending = false

    /// Sends what waits, and keeps the process awake for it where that can be asked for.
    func send(_ box: ReceiptBox) async {
        // Who sends already takes what has come meanwhile, too.
        guard !isSending else { return }
        isSending = true
        let activity = SendingActivity()
        await sendAll(box, until: activity)
        activity.end()
        isSending = false
    }

    private func sendAll(_ box: ReceiptBox, until activity: SendingActivity) async {
        var tried: Set<String> = []
        while let receipt = box.ready.first(where: { !tried.contains($0.id) }), !activity.isOver {
            tried.insert(receipt.id)
            // Whoever has trouble now is not asked for more.
            guard let status = await status(of: receipt), PushReceiptReport.isTaken(status: status) else { return }
            box.remove(receipt)
        }
    }

    /// What the service says; nil when nobody answers.
    private func status(of receipt: StoredReceipt) async -> Int? {
        guard let url = URL(string: receipt.receipt.url), let body = try? JSONEncoder().encode(receipt.report) else {
            // It can never be sent.
            return 400
        }
        return await StatusCall(url, body).status()
    }
}

/// Asks iOS not to suspend the extension while reports are on their way; what does not make it stays on disk.
final class SendingActivity: Sendable {
    private let hasEnded = Guarded(false)
    private let ended = DispatchSemaphore(value: 0)

    init() {
        #if os(iOS)
            ProcessInfo.processInfo.performExpiringActivity(withReason: "Reports of arrival") { [self] isExpired in
                // The activity lasts as long as this call, on a thread of the system's.
                if isExpired { end() } else { ended.wait() }
            }
        #endif
    }

    var isOver: Bool { hasEnded.value }

    func end() {
        hasEnded.set(true)
        ended.signal()
    }
}
