import AttachPrep
import AttachPrepModel
import FoundationEssentials
import MediaTypes
import SafeArithmetic
import Synchronization

/// The results that wait on this machine for the bucket, with a folder for each, from which a restarted service
/// publishes it without a second download.
package final class HeldResultStorage: Sendable {
    /// What is stored beside the files of a result.
    struct Record: Codable, Sendable {
        let manifest: Manifest
        let freshness: SourceFreshness?
        let fetchedAt: Date
    }

    private let output: String
    private let bytesMax: Int
    /// The size of each result.
    private let sizes: Mutex<[JobID: Int]>

    /// Finds the results that an earlier process left.
    ///
    /// - Parameters:
    ///   - output: the folder of results in progress; hard links need the same file system.
    ///   - bytesMax: total size of the results.
    init(output: String, bytesMax: Int) {
        (self.output, self.bytesMax) = (output, bytesMax)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: output)) ?? []
        let found = names.compactMap(Self.job).map { job in
            (job, Self.record(in: Self.folder(of: job, in: output))?.manifest.filesBytes ?? 0)
        }
        sizes = Mutex(Dictionary(found) { first, _ in first })
    }

    private static let prefix = ".held-"
    private static let recordName = "held.json"
    /// A record is a manifest, some 3 KB, and a few values.
    private static let recordBytesMax = 262_144

    /// Whether a name in the folder of results in progress is that of a result that waits.
    package static func isResult(_ name: String) -> Bool { job(name) != nil }

    private static func job(_ name: String) -> JobID? {
        name.utf8.starts(with: prefix.utf8) ? JobID(String(name.dropFirst(prefix.count))) : nil
    }

    private static func folder(of job: JobID, in output: String) -> String { "\(output)/\(prefix)\(job)" }

    func folder(of job: JobID) -> String { Self.folder(of: job, in: output) }

    // MARK: Results

    /// Reserves space for the result of a job, until `remove`.
    ///
    /// - Returns: False when all results would be larger than `bytesMax`.
    func reserve(_ bytes: Int, for job: JobID) -> Bool {
        sizes.withLock { sizes in
            let others = sizes.reduce(0) { $1.key == job ? $0 : $0.adding(clamping: $1.value) }
            guard others.adding(clamping: bytes) <= bytesMax else { return false }
            sizes[job] = bytes
            return true
        }
    }

    /// Keeps the files of a result for a later process.
    ///
    /// Not those of a sealed one: the secret in its manifest is stored nowhere in the clear.
    /// - Throws: `output.not_writable`, `output.no_space`.
    func keep(_ result: UnpublishedResult, fetchedAt: Date, for job: JobID) async throws {
        guard result.manifest.sealed == nil else { return }
        let record = Record(manifest: result.manifest, freshness: result.freshness, fetchedAt: fetchedAt)
        try await result.keep(in: folder(of: job))
        do {
            // Last and atomic: with the record, all files are there.
            try JSONEncoder().encode(record).write(
                to: URL(filePath: "\(folder(of: job))/\(Self.recordName)"), options: .atomic)
        } catch {
            throw AttachPrepError(.outputNotWritable, "A result cannot be kept on disk.", detail: "\(error)")
        }
    }

    /// The record of the result of a job; nil when none waits.
    func record(of job: JobID) -> Record? {
        guard sizes.withLock({ $0[job] != nil }) else { return nil }
        return Self.record(in: folder(of: job))
    }

    private static func record(in folder: String) -> Record? {
        guard let bytes = FileManager.default.contents(atPath: "\(folder)/\(recordName)"), bytes.count <= recordBytesMax
        else { return nil }
        return try? ForeignJSON.decode(Record.self, from: bytes)
    }

    func remove(_ job: JobID) {
        try? FileManager.default.removeItem(atPath: folder(of: job))
        sizes.withLock { sizes in _ = sizes.removeValue(forKey: job) }
    }

    /// Removes the results of jobs that have ended in another way: cancelled, or prepared by another machine.
    func sweep(_ store: any JobQueue, except leases: ActiveLeases) async throws {
        for job in sizes.withLock({ Array($0.keys) }) where !leases.contains(job) {
            let isOver = try await store.job(job)?.state.isFinished ?? true
            if isOver, !leases.contains(job) { remove(job) }
        }
    }
}
