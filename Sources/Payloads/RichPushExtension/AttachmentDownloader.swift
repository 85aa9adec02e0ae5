import Foundation
import RichPush
import RichPushReceipts

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Downloads the files of one notification to disk, each with a time limit; aborts a download as soon as a check fails.
///
/// All downloads share one session, so that a second file from the same server needs no second handshake.
final class AttachmentDownloader: NSObject, Sendable {
    private struct Download: Sendable {
        let candidate: FetchCandidate
        let task: URLSessionDownloadTask
        let end: CheckedContinuation<Result<AttachmentFile, FetchError>, Never>
        var redirects = 0
    }

    private let folder: MediaFolder
    private let downloads = Locked<[Int: Download]>([:])
    /// Nil after `close()`.
    private let session = Locked<URLSession?>(nil)

    init(_ folder: MediaFolder) {
        self.folder = folder
        super.init()
        session.set(URLSession(configuration: Self.configuration, delegate: self, delegateQueue: nil))
    }

    /// Cancels all downloads; must be called, since a session retains its delegate until it is invalidated.
    func close() {
        session.value?.invalidateAndCancel()
        session.set(nil)
    }

    /// Downloads a file; cancelling the task ends the download.
    func file(
        for candidate: FetchCandidate, from url: URL, within seconds: Double
    ) async -> Result<AttachmentFile, FetchError> {
        guard let task = session.value?.downloadTask(with: Self.request(for: candidate, url, seconds)) else {
            return .failure(.cancelled)
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                downloads.change {
                    $0[task.taskIdentifier] = Download(candidate: candidate, task: task, end: continuation)
                }
                task.resume()
                watch(task, until: ProcessInfo.processInfo.systemUptime + seconds)
                // The task may have been cancelled before the download was registered.
                if Task.isCancelled { end(task, .failure(.cancelled)) }
            }
        } onCancel: {
            end(task, .failure(.cancelled))
        }
    }

    /// Checks a download periodically, since delegate calls of the session may be late or missing.
    private func watch(_ task: URLSessionDownloadTask, until limit: Double) {
        guard downloads.value[task.taskIdentifier] != nil else { return }
        check(at: task, received: task.countOfBytesReceived, expected: task.countOfBytesExpectedToReceive)
        let left = limit - ProcessInfo.processInfo.systemUptime
        if left <= 0 { end(task, .failure(.late)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + min(left, Limits.deviceWatchSeconds)) { [weak self] in
            self?.watch(task, until: limit)
        }
    }

    /// Ends a download whose response or length fails a check.
    private func check(at task: URLSessionDownloadTask, received: Int64, expected: Int64) {
        guard let candidate = downloads.value[task.taskIdentifier]?.candidate else { return }
        let error =
            FetchResponse(task.response).flatMap(candidate.error(of:))
            ?? candidate.error(received: Int(received), expected: expected > 0 ? Int(expected) : nil)
        if let error { end(task, .failure(error)) }
    }

    /// Ends a download; later calls have no effect.
    private func end(_ task: URLSessionTask, _ result: Result<AttachmentFile, FetchError>) {
        guard let download = downloads.change({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        task.cancel()
        download.end.resume(returning: result)
    }

    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = Limits.deviceStallSeconds
        configuration.timeoutIntervalForResource = Limits.deviceSeconds
        return configuration
    }

    private static func request(for candidate: FetchCandidate, _ url: URL, _ seconds: Double) -> URLRequest {
        var request = URLRequest(url: url, timeoutInterval: min(Limits.deviceStallSeconds, seconds))
        request.cachePolicy = .reloadIgnoringLocalCacheData
        // With a content coding, Content-Length would not be the length of the file.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        #if canImport(Darwin)
            // In Low Data Mode, a large file is not fetched and its thumbnail is shown.
            request.allowsConstrainedNetworkAccess = candidate.bytes ?? 0 <= Limits.deviceLowDataBytesMax
        #endif
        return request
    }
}

extension AttachmentDownloader: URLSessionDownloadDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        check(at: downloadTask, received: totalBytesWritten, expected: totalBytesExpectedToWrite)
    }

    /// URLSession deletes the file when this method returns.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let candidate = downloads.value[downloadTask.taskIdentifier]?.candidate,
            let response = FetchResponse(downloadTask.response)
        else { return }
        end(downloadTask, folder.check(location, for: candidate, response))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let count = downloads.change { downloads in
            downloads[task.taskIdentifier]?.redirects += 1
            return downloads[task.taskIdentifier]?.redirects ?? 0
        }
        let isAllowed = FetchRedirect.isAllowed(from: response.url, to: request.url, count: count)
        // With nil, the redirect itself becomes the response, which fails the status check.
        completionHandler(isAllowed ? request : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task, .failure((error as? URLError)?.code == .timedOut ? .late : .connection))
    }
}

extension FetchResponse {
    /// Converts a response; nil unless it is an HTTP response.
    init?(_ response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else { return nil }
        let isPacked = response.value(forHTTPHeaderField: "Content-Encoding").map { $0 != "identity" } ?? false
        self.init(
            status: response.statusCode,
            contentLength: isPacked || response.expectedContentLength < 0 ? nil : Int(response.expectedContentLength),
            contentType: response.value(forHTTPHeaderField: "Content-Type"),
            suggestedName: response.suggestedFilename, url: response.url)
    }
}

extension Limits {
    /// Interval between checks of a download: 0.1 s of Wi-Fi is 0.5 MB too much at most.
    static let deviceWatchSeconds = 0.1
    /// A download without bytes for this long is considered dead.
    static let deviceStallSeconds = 10.0
    /// Larger files are not fetched in Low Data Mode: vendors recommend images of half this size.
    static let deviceLowDataBytesMax = 1_000_000
}
