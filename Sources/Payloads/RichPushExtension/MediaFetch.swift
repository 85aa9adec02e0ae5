import Foundation
import RichPush

#if canImport(os)
    import os
#endif

/// Fetches the files of a notification, and passes on each better choice as soon as it is complete.
///
/// Attachments are tried in order. The thumbnail is fetched when they fail, or in parallel with a slow one, so that it
/// is available when iOS ends the extension early. The sender's picture is fetched beside them.
struct MediaFetch: Sendable {
    /// Files to show, instead of those that arrived before.
    struct Arrival: Sendable {
        var files: [AttachmentFile]
        /// Nil for the sender's picture, which changes nothing of what is attached.
        var outcome: PushReceiptReport.Outcome?
        var avatar: AttachmentFile?

        /// Replaces what a later arrival replaces.
        mutating func add(_ later: Arrival) {
            avatar = later.avatar ?? avatar
            guard let outcome = later.outcome else { return }
            (files, self.outcome) = (later.files, outcome)
        }
    }

    private let plan: FetchPlan
    private let settings: RichPushSettings
    private let folder: MediaFolder
    /// The system's uptime, in seconds, when the notification arrived.
    private let start: Double
    private let downloader: AttachmentDownloader

    init(_ plan: FetchPlan, _ settings: RichPushSettings, _ folder: MediaFolder, start: Double) {
        self.plan = plan
        self.settings = settings
        self.folder = folder
        self.start = start
        downloader = AttachmentDownloader(folder)
    }

    /// Cancels the downloads; must be called.
    func close() {
        downloader.close()
    }

    /// Fetches until an attachment has arrived or all files have failed; cancelling the task ends it.
    func run(into arrivals: AsyncStream<Arrival>.Continuation) async {
        let thumbnailStart = OneShotEvent(after: settings.deadline.thumbnailAfterSeconds)
        async let avatar: Void = fetchAvatar(into: arrivals)
        async let thumbnail: Void = thumbnailFile(thumbnailStart, arrivals: arrivals)
        if await !fetchAttachments(into: arrivals) {
            thumbnailStart.signal()
            await thumbnail
        }
        await avatar
        // Before a thumbnail that is no longer needed has ended.
        arrivals.finish()
    }

    private func fetchAvatar(into arrivals: AsyncStream<Arrival>.Continuation) async {
        guard let candidate = plan.avatar, let file = await file(of: candidate) else { return }
        arrivals.yield(Arrival(files: [], avatar: file))
    }

    /// Fetches the first attachment that arrives and that iOS accepts, or all; returns false when there is none.
    private func fetchAttachments(into arrivals: AsyncStream<Arrival>.Continuation) async -> Bool {
        for candidate in plan.attachments where !Task.isCancelled {
            guard let file = await file(of: candidate) else { continue }
            if settings.attachesAll {
                await fetchOthers(after: file, into: arrivals)
                return true
            }
            guard let companion = plan.companion(of: candidate) else {
                arrivals.yield(Arrival(files: [file], outcome: .attached))
                return true
            }
            arrivals.yield(Arrival(files: [file], outcome: .attached))
            // The attachment for the collapsed thumbnail, with a shorter time limit.
            let second = await self.file(of: companion, secondsMax: Limits.deviceThumbnailSeconds)
            arrivals.yield(Arrival(files: [file] + [second].compactMap { $0 }, outcome: .attached))
            return true
        }
        return false
    }

    /// Fetches the attachments after the first that arrived, in order, and passes on all that are there.
    private func fetchOthers(
        after first: AttachmentFile, into arrivals: AsyncStream<Arrival>.Continuation
    ) async {
        var files = [first]
        arrivals.yield(Arrival(files: files, outcome: .attached))
        var rest = plan.others(after: first.candidate)
        while let candidate = rest.popFirst(), !Task.isCancelled {
            guard let file = await file(of: candidate) else { continue }
            rest = plan.others(after: candidate)
            files.append(file)
            arrivals.yield(Arrival(files: files, outcome: .attached))
        }
    }

    private func thumbnailFile(
        _ thumbnailStart: OneShotEvent, arrivals: AsyncStream<Arrival>.Continuation
    ) async {
        guard !plan.thumbnails.isEmpty else { return }
        await thumbnailStart.wait()
        for candidate in plan.thumbnails where !Task.isCancelled {
            guard let file = await file(of: candidate) else { continue }
            arrivals.yield(Arrival(files: [file], outcome: .thumbnail))
            return
        }
    }

    private func file(of candidate: FetchCandidate, secondsMax: Double = .infinity) async -> AttachmentFile? {
        if let error = candidate.errorBeforeFetch {
            DeviceLog.note(error, candidate: candidate)
            return nil
        }
        let elapsed = ProcessInfo.processInfo.systemUptime - start
        guard let seconds = settings.deadline.secondsLeft(after: elapsed).map({ min($0, secondsMax) }) else {
            DeviceLog.note(.late, candidate: candidate)
            return nil
        }
        let result: Result<AttachmentFile, FetchError>
        switch candidate.source {
        case .web(let url): result = await downloader.file(for: candidate, from: url, within: seconds)
        case .bundle(let name): result = folder.copy(name, from: settings.bundleFolders, for: candidate)
        }
        switch result {
        case .success(let file):
            if (try? file.attachment()) != nil { return file }
            DeviceLog.note(.notTaken, candidate: candidate)
        case .failure(let error): DeviceLog.note(error, candidate: candidate)
        }
        return nil
    }
}

/// Logs the result of each file.
enum DeviceLog {
    #if canImport(os)
        private static let logger = Logger(subsystem: "attachprep", category: "notification")
    #endif

    /// Logs ids only: URLs may contain secrets.
    static func note(_ error: FetchError, candidate: FetchCandidate) {
        note(candidate, fact: error.rawValue)
    }

    static func noteKept(_ files: [AttachmentFile]) {
        for file in files { note(file.candidate, fact: "kept") }
    }

    private static func note(_ candidate: FetchCandidate, fact: String) {
        #if canImport(os)
            logger.notice("\(candidate.id, privacy: .public): \(fact, privacy: .public)")
        #else
            FileHandle.standardError.write(Data("\(candidate.id): \(fact)\n".utf8))
        #endif
    }
}
