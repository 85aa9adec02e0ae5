import AttachPrep
import AttachPrepJobs
import Crypto
import Foundation
import RichPush
import Synchronization
import TestSupport

/// A preparer that does what a test writes down, and remembers what it was told.
final class ScriptedPreparer: JobPreparing {
    typealias Script = @Sendable (_ order: PreparationTask, _ number: Int) async -> PreparationResult

    let output: String
    private let script: Script
    private let taken = Mutex<[PreparationTask]>([])

    /// - Parameter script: told the order's number, from 1.
    init(output: String, _ script: @escaping Script) {
        self.output = output
        self.script = script
    }

    var orders: [PreparationTask] { taken.withLock { $0 } }

    var statistics: PreparerStatistics { PreparerStatistics(downloadedBytes: orders.count * 1000) }

    func prepare(_ order: PreparationTask) async -> PreparationResult {
        let number = taken.withLock { taken in
            taken.append(order)
            return taken.count
        }
        return await script(order, number)
    }
}

extension PreparationTask {
    /// A result whose attachment holds that text, in its folder.
    func prepared(
        in output: String, _ text: String = "meow", _ outcome: Outcome = .passed, _ freshness: SourceFreshness? = nil
    ) -> PreparationResult {
        var manifest = Manifest(
            id: request.id ?? "derived", requestDigest: "digest", outcome: outcome,
            source: ManifestSource(url: request.source))
        let digest = SHA256.hash(data: Data(text.utf8)).map { String(format: "%02x", $0) }.joined()
        manifest.attachment = ManifestFile(
            file: "attachment.jpg", type: .jpeg, bytes: text.utf8.count, sha256: digest)
        manifest.timings.transfer = 5
        manifest.timings.total = 60_000
        let path = "\(output)/\(folder ?? manifest.id)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try? Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/attachment.jpg"))
        return .ended(manifest, freshness)
    }

    func rejected(_ code: ErrorCode) -> PreparationResult {
        var manifest = Manifest(
            id: request.id ?? "derived", requestDigest: "digest", outcome: .rejected,
            source: ManifestSource(url: request.source))
        manifest.error = ManifestError(AttachPrepError(code, "It did not work."))
        return .ended(manifest, nil)
    }
}

/// Returns when the task is cancelled.
func untilCancelled() async {
    // A stream that never brings anything ends with its task.
    for await _ in AsyncStream<Void>.makeStream().stream {}
}
