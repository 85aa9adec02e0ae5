import Foundation
import RichPush

/// Arrivals that are not reported yet, a small file each: they are kept until somebody took them.
struct ReceiptBox: Sendable {
    let folder: URL

    /// Writes an arrival down, or what has become of it.
    func keep(_ receipt: StoredReceipt) {
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard let data = try? JSONEncoder().encode(receipt) else { return }
        try? data.write(to: file(of: receipt), options: .atomic)
        files.dropLast(Limits.deviceReceiptsMax).forEach { try? FileManager.default.removeItem(at: $0) }
    }

    func remove(_ receipt: StoredReceipt) {
        try? FileManager.default.removeItem(at: file(of: receipt))
    }

    /// What can be reported now, the newest first; what cannot be read goes, and what nobody asks for any more.
    var ready: [StoredReceipt] {
        let receipts = files.compactMap { file -> StoredReceipt? in
            guard let data = try? Data(contentsOf: file),
                let receipt = try? JSONDecoder().decode(StoredReceipt.self, from: data), !receipt.isOld
            else {
                try? FileManager.default.removeItem(at: file)
                return nil
            }
            return receipt
        }
        return Array(receipts.filter(\.isReady).reversed().prefix(1 + Limits.deviceReceiptsAtOnce))
    }

    private func file(of receipt: StoredReceipt) -> URL {
        folder.appendingPathComponent(receipt.name).appendingPathExtension("json")
    }

    /// The oldest first.
    private var files: [URL] {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "json" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
    }
}

/// One arrival on disk.
struct StoredReceipt: Codable, Sendable {
    let receipt: PushReceipt
    /// Made once: however often it is sent, it counts once.
    let id: String
    /// Seconds since 1970.
    let arrived: Double
    /// Nil until the notification was handed over.
    private var outcome: PushReceiptReport.Outcome?
    private var attachSeconds: Double

    init(_ receipt: PushReceipt) {
        self.receipt = receipt
        id = UUID().uuidString.lowercased()
        arrived = Date().timeIntervalSince1970
        attachSeconds = Limits.deviceSeconds
    }

    /// Sorts by age.
    var name: String {
        let digits = String(Int(arrived * 1_000))
        return String(repeating: "0", count: max(0, 15 - digits.count)) + digits + "-" + id
    }

    func settled(_ outcome: PushReceiptReport.Outcome, after seconds: Double) -> StoredReceipt {
        var receipt = self
        receipt.outcome = outcome
        receipt.attachSeconds = seconds
        return receipt
    }

    /// Handed over, or left behind by an extension that iOS ended: then the text was shown.
    var isReady: Bool { outcome != nil || age > Limits.deviceAbandonedSeconds }

    var isOld: Bool { age > Limits.deviceReceiptAgeSecondsMax }

    var report: PushReceiptReport {
        PushReceiptReport(
            token: receipt.token, id: id, outcome: outcome ?? .text, attachSeconds: attachSeconds,
            ageSeconds: max(0, age - attachSeconds))
    }

    /// By a clock that people and networks set: it may go backwards.
    private var age: Double { Date().timeIntervalSince1970 - arrived }
}
