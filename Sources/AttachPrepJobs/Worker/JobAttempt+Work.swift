import AttachPrep
import Logging
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The work of an attempt, and its result on the way into the store.
extension JobAttempt {
    func work(_ upload: MediaID?, asking validators: SourceValidators?, about stored: StoredResult?)
        async throws -> AttemptEnd
    {
        var order = PreparationOrder(job.request)
        order.folder = folder
        order.logger = logger
        order.validators = validators
        if let upload { order.localFile = try await path(of: upload) }
        #if DEBUG
            TrapForTests.check(job.request.source)
        #endif
        let fetchedAt = Date.now.nextMillisecond
        let isCut = cut(&order.request, at: fetchedAt)
        let end = await rooms.preparer.carryOut(order)
        rooms.metrics.note(rooms.preparer.statistics)
        switch end {
        case .unchanged(let freshness):
            guard let stored, try await renew(stored, freshness, fetchedAt) else {
                return try await work(upload, asking: nil, about: nil)
            }
            return try await use(stored, .unchanged)
        case .ended(let manifest, let freshness):
            rooms.metrics.worked(manifest.timings)
            log(manifest)
            let key = isCut && manifest.outcome == .bestAttempt ? privateKey : job.key
            return manifest.error == nil
                ? try await keep(manifest, freshness, fetchedAt, for: key)
                : await note(isCut ? cutShort(manifest) : manifest, fetchedAt)
        }
    }

    private func path(of upload: MediaID) async throws -> String {
        guard let upload = try await rooms.store.upload(upload) else {
            throw AttachPrepError(.sourceNotFound, "The upload is no longer there; send the file again.")
        }
        return try await rooms.store.file(of: upload)
    }

    /// Takes from the budget what lies behind the job's own deadline; tells whether that was something.
    private func cut(_ request: inout AttachmentRequest, at date: Date) -> Bool {
        guard let notAfter = request.terms.notAfter else { return false }
        let left = max(notAfter.timeIntervalSince(date), Self.budgetSecondsMin)
        guard left < request.budgetSeconds else { return false }
        request.budgetSeconds = left
        return true
    }

    /// A budget is over 0.
    private static let budgetSecondsMin = 0.001

    /// False when the result went meanwhile.
    private func renew(_ stored: StoredResult, _ freshness: SourceFreshness, _ fetchedAt: Date) async throws -> Bool {
        try await rooms.store.renew(stored.media, freshness, fetchedAt: fetchedAt)
        return try await rooms.store.result(for: job.key)?.media == stored.media
    }

    // MARK: What came of it

    private func keep(
        _ manifest: Manifest, _ freshness: SourceFreshness?, _ fetchedAt: Date, for key: WorkKey
    ) async throws -> AttemptEnd {
        let path = "\(rooms.preparer.output)/\(folder)"
        guard rooms.hands.standing(of: job.lease) == .held else {
            try? FileManager.default.removeItem(atPath: path)
            return .interrupted
        }
        do {
            let stored = try await rooms.store.store(
                manifest, folder: rooms.preparer.keepsFolders ? path : nil, for: key, freshness: freshness,
                fetchedAt: fetchedAt)
            return .prepared(JobManifest.made(manifest, for: job, waited: waited), stored.media)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// A failure is that of all who wait for the same work, unless it is one of this job's own time or of the machine.
    private func note(_ manifest: Manifest, _ fetchedAt: Date) async -> AttemptEnd {
        guard manifest.error?.code != .cancelled, rooms.hands.standing(of: job.lease) == .held else {
            return .interrupted
        }
        let isStorage = manifest.error.map { StorageBreaker.isStorage($0.code) } ?? false
        if !isStorage, manifest.error?.code != .deadlineNotAfter {
            do {
                _ = try await rooms.store.store(
                    manifest, folder: nil, for: job.key, freshness: nil, fetchedAt: fetchedAt)
            } catch {
                // The others find out for themselves.
                logger.warning("the failure could not be kept for others", metadata: ["error": "\(error)"])
            }
        }
        return rejected(JobManifest.made(manifest, for: job, waited: waited), fetchedAt: fetchedAt)
    }

    /// A budget that ended at the job's own deadline: more of it would not have helped.
    private func cutShort(_ manifest: Manifest) -> Manifest {
        guard manifest.error?.code == .deadlineExceeded, let notAfter = job.request.terms.notAfter else {
            return manifest
        }
        var manifest = manifest
        manifest.error = ManifestError(AttachPrepError.cutShort(notAfter))
        return manifest
    }

    private func log(_ manifest: Manifest) {
        var facts: Logger.Metadata = [
            "outcome": "\(manifest.outcome)", "ms": "\(Int(clamping: manifest.timings.total.rounded()))",
        ]
        facts["source"] = manifest.source.bytes.map { "\($0)" }
        facts["bytes"] = manifest.attachment.map { "\($0.bytes)" }
        facts["code"] = manifest.error.map { "\($0.code.rawValue)" }
        facts["reason"] = manifest.error.map { "\($0.message)" }
        logger.info(manifest.error == nil ? "prepared" : "rejected", metadata: facts)
    }
}

extension Date {
    /// Whole milliseconds, which every store keeps exactly, and not before this.
    fileprivate var nextMillisecond: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded(.up) / 1000)
    }
}
