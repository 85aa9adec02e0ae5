import Foundation
import RichPush

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Downloads the files of one notification: straight to disk, each in its time, checked as early as facts are known.
///
/// One session for all of them, so that a second file from the same server needs no second handshake.
// Sendable because the session is set once, and what changes is guarded.
final class AttachmentFetch: NSObject, @unchecked Sendable {
    private struct Download: Sendable {
        let candidate: FetchCandidate
        let task: URLSessionDownloadTask
        let end: CheckedContinuation<Result<AttachmentFile, FetchRefusal>, Never>
        var redirects = 0
    }

    private let folder: MediaFolder
    private let downloads = Guarded<[Int: Download]>([:])
    private lazy var session = URLSession(configuration: Self.configuration, delegate: self, delegateQueue: nil)

    init(_ folder: MediaFolder) {
        self.folder = folder
        super.init()
        _ = session
    }

    /// A session holds on to its delegate until it is told that nothing more comes.
    func close() {
        session.invalidateAndCancel()
    }

    /// The file, or why there is none; cancelling the task ends the download.
    func file(
        for candidate: FetchCandidate, from url: URL, within seconds: Double
    ) async -> Result<AttachmentFile, FetchRefusal> {
        let task = session.downloadTask(with: Self.request(for: candidate, url, seconds))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                downloads.change {
                    $0[task.taskIdentifier] = Download(candidate: candidate, task: task, end: continuation)
                }
                task.resume()
                watch(task, until: ProcessInfo.processInfo.systemUptime + seconds)
                // The cancellation may have come before there was something to end.
                if Task.isCancelled { end(task, .failure(.cancelled)) }
            }
        } onCancel: {
            end(task, .failure(.cancelled))
        }
    }

    /// Looks again and again while the download lasts: calls of the session's may be late, or not come at all.
    private func watch(_ task: URLSessionDownloadTask, until limit: Double) {
        guard downloads.value[task.taskIdentifier] != nil else { return }
        look(at: task, received: task.countOfBytesReceived, expected: task.countOfBytesExpectedToReceive)
        let left = limit - ProcessInfo.processInfo.systemUptime
        if left <= 0 { end(task, .failure(.late)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + min(left, Limits.deviceWatchSeconds)) { [weak self] in
            self?.watch(task, until: limit)
        }
    }

    /// Ends a download that cannot become what was asked for: nothing more of it is fetched.
    private func look(at task: URLSessionDownloadTask, received: Int64, expected: Int64) {
        guard let candidate = downloads.value[task.taskIdentifier]?.candidate else { return }
        let refusal =
            FetchAnswer(task.response).flatMap(candidate.refusal(of:))
            ?? candidate.refusal(received: Int(received), expected: expected > 0 ? Int(expected) : nil)
        if let refusal { end(task, .failure(refusal)) }
    }

    /// Ends a download once; who comes later finds nothing.
    private func end(_ task: URLSessionTask, _ result: Result<AttachmentFile, FetchRefusal>) {
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
        // Packed on the way, the length says nothing of the file's.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        #if canImport(Darwin)
            // In Low Data Mode a large file gives way to its thumbnail.
            request.allowsConstrainedNetworkAccess = candidate.bytes ?? 0 <= Limits.deviceLowDataBytesMax
        #endif
        return request
    }
}

extension AttachmentFetch: URLSessionDownloadDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        look(at: downloadTask, received: totalBytesWritten, expected: totalBytesExpectedToWrite)
    }

    /// The file is gone when this returns.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let candidate = downloads.value[downloadTask.taskIdentifier]?.candidate,
            let answer = FetchAnswer(downloadTask.response)
        else { return }
        end(downloadTask, folder.check(location, for: candidate, answer))
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
        // Refused, the redirect itself is the answer, and no file.
        completionHandler(isAllowed ? request : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task, .failure((error as? URLError)?.code == .timedOut ? .late : .connection))
    }
}

extension FetchAnswer {
    /// What a server says of a file; nil for what is no answer of a web server's.
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
