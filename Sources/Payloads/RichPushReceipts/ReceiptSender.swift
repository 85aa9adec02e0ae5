import Foundation
import RichPush

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends stored receipts one after another, after the notification was delivered.
package actor ReceiptSender {
    package static let shared = ReceiptSender()

    private var isSending = false

    /// Sends pending receipts; on iOS, asks the system not to suspend the process meanwhile.
    package func send(_ pendingReceipts: PendingReceipts) async {
        // The running loop also sends receipts that were added meanwhile.
        guard !isSending else { return }
        isSending = true
        let activity = SendingActivity()
        await sendAll(pendingReceipts, until: activity)
        activity.end()
        isSending = false
    }

    private func sendAll(_ pendingReceipts: PendingReceipts, until activity: SendingActivity) async {
        var tried: Set<String> = []
        while let receipt = pendingReceipts.ready.first(where: { !tried.contains($0.id) }), !activity.isOver {
            tried.insert(receipt.id)
            // After a temporary error, the rest waits for the next notification.
            guard let status = await status(of: receipt), PushReceiptReport.isFinal(status: status) else { return }
            pendingReceipts.remove(receipt)
        }
    }

    /// The HTTP status of the service; nil without a response.
    private func status(of receipt: StoredReceipt) async -> Int? {
        guard let url = URL(string: receipt.receipt.url), let body = try? JSONEncoder().encode(receipt.report) else {
            // An invalid receipt can never be sent; 400 removes it.
            return 400
        }
        return await ReceiptRequest(url, body).status()
    }
}

/// Asks iOS not to suspend the extension while receipts are sent; unsent receipts stay on disk.
final class SendingActivity: Sendable {
    private let hasEnded = Locked(false)
    private let ended = DispatchSemaphore(value: 0)

    init() {
        #if os(iOS)
            ProcessInfo.processInfo.performExpiringActivity(withReason: "Reports of arrival") { [self] isExpired in
                // The activity lasts until this closure returns; the system runs it on its own thread.
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

/// Sends one report and returns the status of the response.
// Sendable because the mutable state is locked.
final class ReceiptRequest: NSObject, @unchecked Sendable {
    private let request: URLRequest
    private let end = Locked<CheckedContinuation<Int?, Never>?>(nil)

    init(_ url: URL, _ body: Data) {
        var request = URLRequest(url: url, timeoutInterval: Limits.deviceReceiptSeconds)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        self.request = request
    }

    /// Sends the request; nil without a response in time.
    func status() async -> Int? {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = Limits.deviceReceiptSeconds
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        return await withCheckedContinuation { continuation in
            end.set(continuation)
            DispatchQueue.global().asyncAfter(deadline: .now() + Limits.deviceReceiptSeconds) { [weak self] in
                self?.finish(nil)
            }
            session.dataTask(with: request).resume()
        }
    }

    private func finish(_ status: Int?) {
        let continuation = end.change { end in
            defer { end = nil }
            return end
        }
        continuation?.resume(returning: status)
    }
}

extension ReceiptRequest: URLSessionDataDelegate {
    /// Cancels the request after the response header; the body is not read.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.cancel)
        finish((response as? HTTPURLResponse)?.statusCode)
    }

    /// Rejects redirects: a report is sent only to the URL in the payload.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish((task.response as? HTTPURLResponse)?.statusCode)
    }
}

extension Limits {
    /// Time limit for sending one report; after a failure it is kept until the next notification.
    static let deviceReceiptSeconds = 10.0
}
