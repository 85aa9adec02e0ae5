package import Foundation
package import RichPush

/// Reports that are not sent yet, stored as one small file each until the service accepts them.
package struct PendingReceipts: Sendable {
    private let folder: URL

    package init(folder: URL) {
        self.folder = folder
    }

    /// Stores or updates a receipt; deletes the oldest ones over the limit.
    package func keep(_ receipt: StoredReceipt) {
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard let data = try? JSONEncoder().encode(receipt) else { return }
        try? data.write(to: file(of: receipt), options: .atomic)
        files.dropLast(Limits.deviceReceiptsMax).forEach { try? FileManager.default.removeItem(at: $0) }
    }

    func remove(_ receipt: StoredReceipt) {
        try? FileManager.default.removeItem(at: file(of: receipt))
    }

    /// The receipts that can be sent now, newest first; deletes invalid and expired ones.
    var ready: [StoredReceipt] {
        let receipts = files.compactMap { file -> StoredReceipt? in
            // Removed by the other process, or locked until the phone is unlocked for the first time.
            guard let data = try? Data(contentsOf: file) else { return nil }
            guard let receipt = try? JSONDecoder().decode(StoredReceipt.self, from: data), !receipt.isOld else {
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

    /// The stored files, oldest first.
    private var files: [URL] {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "json" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
    }
}

/// A receipt on disk.
package struct StoredReceipt: Codable, Sendable {
    let receipt: PushReceipt
    /// Created once, so that repeated reports count once.
    let id: String
    /// Seconds since 1970.
    let arrived: Double
    /// Nil until the notification was delivered.
    private var outcome: PushReceiptReport.Outcome?
    private var attachSeconds: Double

    package init(_ receipt: PushReceipt) {
        self.receipt = receipt
        id = UUID().uuidString.lowercased()
        arrived = Date().timeIntervalSince1970
        attachSeconds = Limits.deviceSeconds
    }

    /// The file name, which sorts by age.
    var name: String {
        let digits = String(Int(arrived * 1_000))
        return String(repeating: "0", count: max(0, 15 - digits.count)) + digits + "-" + id
    }

    package func settled(_ outcome: PushReceiptReport.Outcome, after seconds: Double) -> StoredReceipt {
        var receipt = self
        receipt.outcome = outcome
        receipt.attachSeconds = seconds
        return receipt
    }

    /// Whether the notification was delivered, or its extension was killed, in which case iOS showed the text.
    var isReady: Bool { outcome != nil || age > Limits.deviceAbandonedSeconds }

    var isOld: Bool { age > Limits.deviceReceiptAgeSecondsMax }

    var report: PushReceiptReport {
        PushReceiptReport(
            token: receipt.token, id: id, outcome: outcome ?? .text, attachSeconds: attachSeconds,
            ageSeconds: max(0, age - attachSeconds))
    }

    /// Seconds since the arrival by the wall clock, which may be set back.
    private var age: Double { Date().timeIntervalSince1970 - arrived }
}

extension Limits {
    /// Stored reports that wait to be sent; the oldest are deleted.
    static let deviceReceiptsMax = 100
    /// Reports are kept for a week, as results are; by then a campaign has been evaluated.
    static let deviceReceiptAgeSecondsMax = 7.0 * 24 * 3600
    /// Older reports that are sent together with a new one, to limit the time it takes.
    static let deviceReceiptsAtOnce = 20
    /// A notification not delivered by then never was: iOS killed the extension.
    package static let deviceAbandonedSeconds = 60.0
}
