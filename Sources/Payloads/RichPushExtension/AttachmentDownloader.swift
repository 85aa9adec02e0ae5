import Foundation
import RichPush
import RichPushReceipts

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Downloads the files of one notification to disk, each with a time limit; aborts a download as soon as a check fails.
///
/// All downloads share one session, so that a second file from the same server needs no second handshake. A download
/// whose connection fails is continued once, with the time that is left.
final class AttachmentDownloader: NSObject, Sendable {
    private struct Download: Sendable {
        let candidate: FetchCandidate
        let request: URLRequest
        /// The system's uptime, in seconds, at which the download ends.
        let limit: Double
        let end: CheckedContinuation<Result<AttachmentFile, FetchError>, Never>
        var task: URLSessionDownloadTask
        var redirects = 0
        var isSecondAttempt = false
        /// When the response header was seen, and the bytes that had arrived until then.
        var head: (uptime: Double, received: Int64)?
    }

    private let folder: MediaFolder
    /// By the `taskDescription` of their tasks.
    private let downloads = Locked<[String: Download]>([:])
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
        let request = Self.request(url, seconds: seconds)
        guard let task = session.value?.downloadTask(with: request) else { return .failure(.cancelled) }
        let id = UUID().uuidString
        task.taskDescription = id
        let limit = ProcessInfo.processInfo.systemUptime + seconds
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                downloads.change {
                    $0[id] = Download(
                        candidate: candidate, request: request, limit: limit, end: continuation, task: task)
                }
                task.resume()
                watch(id)
                // The task may have been cancelled before the download was registered.
                if Task.isCancelled { end(id, result: .failure(.cancelled)) }
            }
        } onCancel: {
            end(id, result: .failure(.cancelled))
        }
    }

    /// Checks a download periodically, since delegate calls of the session may be late or missing.
    private func watch(_ id: String) {
        guard let download = downloads.value[id] else { return }
        let task = download.task
        check(at: task, received: task.countOfBytesReceived, expected: task.countOfBytesExpectedToReceive)
        let left = download.limit - ProcessInfo.processInfo.systemUptime
        if left <= 0 { end(id, result: .failure(.late)) }
        if download.candidate.hasSmaller, isTooSlow(id, task, secondsLeft: left) { end(id, result: .failure(.slow)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + min(left, Limits.deviceWatchSeconds)) { [weak self] in
            self?.watch(id)
        }
    }

    /// Ends a download whose response or length fails a check.
    private func check(at task: URLSessionDownloadTask, received: Int64, expected: Int64) {
        guard let id = task.taskDescription, let candidate = downloads.value[id]?.candidate else { return }
        let error =
            FetchResponse(task.response).flatMap(candidate.error(of:))
            ?? candidate.error(received: Int(received), expected: expected > 0 ? Int(expected) : nil)
        if let error { end(id, result: .failure(error)) }
    }

    /// Whether the rest of a file would miss the deadline at the rate since its response header.
    private func isTooSlow(_ id: String, _ task: URLSessionDownloadTask, secondsLeft: Double) -> Bool {
        let (now, received) = (ProcessInfo.processInfo.systemUptime, task.countOfBytesReceived)
        // Foundation on Linux gives the response of a download at its end.
        guard task.response != nil || received > 0 else { return false }
        let announced = task.countOfBytesExpectedToReceive
        let download = downloads.change { downloads in
            if downloads[id]?.head == nil { downloads[id]?.head = (now, received) }
            return downloads[id]
        }
        guard let download, let head = download.head,
            let expected = announced > 0 ? Int(announced) : download.candidate.bytes
        else { return false }
        let pace = FetchPace(
            received: Int(received - head.received), expected: expected - Int(head.received),
            seconds: now - head.uptime)
        return pace.misses(secondsLeft)
    }

    /// Ends a download; later calls have no effect.
    private func end(_ id: String, result: Result<AttachmentFile, FetchError>) {
        guard let download = downloads.change({ $0.removeValue(forKey: id) }) else { return }
        download.task.cancel()
        download.end.resume(returning: result)
    }

    /// Continues a download whose connection failed, where the system kept its part, or else begins again.
    ///
    /// Returns false after the second failure.
    private func retry(_ id: String, after error: URLError) -> Bool {
        guard Self.transientErrors.contains(error.code), let session = session.value else { return false }
        let task: URLSessionDownloadTask? = downloads.change { downloads in
            guard let download = downloads[id], !download.isSecondAttempt else { return nil }
            #if canImport(Darwin)
                let task =
                    error.downloadTaskResumeData.map(session.downloadTask(withResumeData:))
                    ?? session.downloadTask(with: download.request)
            #else
                let task = session.downloadTask(with: download.request)
            #endif
            task.taskDescription = id
            downloads[id]?.task = task
            downloads[id]?.isSecondAttempt = true
            downloads[id]?.head = nil
            return task
        }
        task?.resume()
        return task != nil
    }

    private static let transientErrors: Set<URLError.Code> = [
        .networkConnectionLost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
    ]

    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = Limits.deviceStallSeconds
        configuration.timeoutIntervalForResource = Limits.deviceSecondsMax
        return configuration
    }

    private static func request(_ url: URL, seconds: Double) -> URLRequest {
        var request = URLRequest(url: url, timeoutInterval: min(Limits.deviceStallSeconds, seconds))
        request.cachePolicy = .reloadIgnoringLocalCacheData
        // With a content coding, Content-Length would not be the length of the file.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
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
        guard let id = downloadTask.taskDescription, let candidate = downloads.value[id]?.candidate,
            let response = FetchResponse(downloadTask.response)
        else { return }
        end(id, result: folder.check(location, for: candidate, response))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let count = downloads.change { downloads in
            guard let id = task.taskDescription else { return 0 }
            downloads[id]?.redirects += 1
            return downloads[id]?.redirects ?? 0
        }
        let isAllowed = FetchRedirect.isAllowed(from: response.url, to: request.url, count: count)
        // With nil, the redirect itself becomes the response, which fails the status check.
        completionHandler(isAllowed ? request : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let id = task.taskDescription else { return }
        let error = error as? URLError
        if let error, retry(id, after: error) { return }
        end(id, result: .failure(error?.code == .timedOut ? .late : .connection))
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
}
