import Foundation
import RichPush
import UserNotifications

/// Holds the best content so far of a notification, and calls its content handler with it exactly once.
// Sendable because the lock guards all that changes, and content that was stored is only copied.
final class ContentHandler: @unchecked Sendable {
    /// What would be shown now.
    private struct Best {
        var content: UNNotificationContent
        var outcome: PushReceiptReport.Outcome
    }

    private let lock = NSLock()
    private let original: UNNotificationContent
    /// The content without attachments: the first result of `modify`.
    private var text: UNNotificationContent
    private var best: Best
    private var handler: ((UNNotificationContent) -> Void)?

    init(_ content: UNNotificationContent, _ handler: @escaping (UNNotificationContent) -> Void) {
        original = content
        text = content
        best = Best(content: content, outcome: .text)
        self.handler = handler
    }

    /// The payload as the notification or the first result of `modify` has it.
    var userInfo: [AnyHashable: Any] { lock.withLock { text.userInfo } }

    /// A new copy of the notification's own content, with attachments.
    func copy(with attachments: [UNNotificationAttachment]) -> UNMutableNotificationContent? {
        Self.copy(original, attachments: attachments)
    }

    /// Uses content without attachments from now on.
    func setText(_ content: UNNotificationContent) {
        lock.withLock {
            text = content
            best = Best(content: content, outcome: .text)
        }
    }

    /// Adds attachments that arrived to the text, to be shown if time ends before `modify` returns.
    func setAttachments(_ attachments: [UNNotificationAttachment], _ outcome: PushReceiptReport.Outcome) {
        lock.withLock {
            guard let content = Self.copy(text, attachments: attachments) else { return }
            best = Best(content: content, outcome: outcome)
        }
    }

    /// Replaces the content after `modify` has returned.
    func setContent(_ content: UNNotificationContent) {
        lock.withLock { best.content = content }
    }

    /// Delivers the best content; returns false when content was already delivered.
    ///
    /// - Parameter first: Called before the content handler, after which iOS may suspend the extension at any time.
    func deliver(first: ([UNNotificationAttachment], PushReceiptReport.Outcome) -> Void) -> Bool {
        let (handler, best) = lock.withLock {
            defer { self.handler = nil }
            return (self.handler, self.best)
        }
        guard let handler else { return false }
        first(best.content.attachments, best.outcome)
        handler(best.content)
        return true
    }

    private static func copy(
        _ content: UNNotificationContent, attachments: [UNNotificationAttachment]
    ) -> UNMutableNotificationContent? {
        guard let copy = content.mutableCopy() as? UNMutableNotificationContent else { return nil }
        copy.attachments = attachments
        return copy
    }
}
