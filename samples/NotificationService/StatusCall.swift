import Foundation
import RichPush

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One report on its way: of the answer, the status is all that counts.
// Sendable because what changes is guarded.
final class StatusCall: NSObject, @unchecked Sendable {
    private let request: URLRequest
    private let end = Guarded<CheckedContinuation<Int?, Never>?>(nil)

    init(_ url: URL, _ body: Data) {
        var request = URLRequest(url: url, timeoutInterval: Limits.deviceReceiptSeconds)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        self.request = request
    }

    /// Nil when there is no answer in time.
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

extension StatusCall: URLSessionDataDelegate {
    /// A body, however long, is not waited for.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.cancel)
        finish((response as? HTTPURLResponse)?.statusCode)
    }

    /// A report goes where the payload says, and nowhere else.
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
