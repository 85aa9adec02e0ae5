import Foundation
import RichPushExtension
import RichPushReceipts
import UserNotifications

/// Receives the content that iOS would display, and moves the attached files into the notification store.
final class Screen: Sendable {
    private let store: URL
    private let start = Locked(0.0)
    private let content = Locked<[String: any Sendable]>([:])
    private let count = Locked(0)

    init(store: URL) {
        self.store = store
    }

    func begin() {
        start.set(ProcessInfo.processInfo.systemUptime)
    }

    func show(_ content: UNNotificationContent) {
        let seconds = ProcessInfo.processInfo.systemUptime - start.value
        count.change { $0 += 1 }
        self.content.set([
            "seconds": (seconds * 1_000).rounded() / 1_000, "title": content.title, "body": content.body,
            "attachments": content.attachments.map(shown),
        ])
    }

    var report: [String: Any] {
        var report: [String: Any] = content.value
        report["handedOver"] = count.value
        return report
    }

    /// Peak resident memory in KB.
    static var memoryPeak: Int { memory("VmHWM:") }

    /// Resident memory in KB.
    static var memory: Int { memory("VmRSS:") }

    private static func memory(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    private func shown(_ attachment: UNNotificationAttachment) -> [String: any Sendable] {
        let bytes = try? attachment.url.resourceValues(forKeys: [.fileSizeKey]).fileSize
        let sha256 = try? AttachmentFile.sha256(of: attachment.url)
        let target = store.appendingPathComponent("\(UUID().uuidString).\(attachment.url.pathExtension)")
        try? FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        try? FileManager.default.moveItem(at: attachment.url, to: target)
        return [
            "identifier": attachment.identifier, "file": attachment.url.lastPathComponent, "uti": attachment.type,
            "bytes": bytes ?? 0, "sha256": sha256 ?? "", "path": target.path,
            "options": Self.options(attachment.options),
        ]
    }

    private static func options(_ options: [AnyHashable: Any]) -> [String: any Sendable] {
        let names = [
            UNNotificationAttachmentOptionsTypeHintKey: "typeHint",
            UNNotificationAttachmentOptionsThumbnailHiddenKey: "thumbnailHidden",
            UNNotificationAttachmentOptionsThumbnailClippingRectKey: "thumbnailClippingRect",
            UNNotificationAttachmentOptionsThumbnailTimeKey: "thumbnailTime",
        ]
        var printed: [String: any Sendable] = [:]
        for (key, value) in options {
            let name = (key.base as? String).flatMap { names[$0] } ?? "\(key)"
            switch value {
            case let value as Bool: printed[name] = value
            case let value as Int: printed[name] = value
            case let value as [String: Double]: printed[name] = value
            case let value as [String: any Sendable]: printed[name] = value.mapValues { "\($0)" }
            default: printed[name] = "\(value)"
            }
        }
        return printed
    }
}
