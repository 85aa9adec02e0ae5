import Foundation
import UserNotifications

/// A notification's content on its way to the screen: handed over exactly once, whoever comes first.
// Sendable because the lock guards the handler, and only who has taken the handler touches the content.
final class Delivery: @unchecked Sendable {
    private let lock = NSLock()
    private let content: UNNotificationContent
    private var handler: ((UNNotificationContent) -> Void)?

    init(_ content: UNNotificationContent, _ handler: @escaping (UNNotificationContent) -> Void) {
        self.content = content
        self.handler = handler
    }

    /// Hands the content over with its attachments, or as it came; false when that has happened already.
    ///
    /// - Parameter first: done before, by who hands over: afterwards iOS may suspend the extension at any time.
    @discardableResult
    func handOver(_ attachments: [UNNotificationAttachment], first: () -> Void) -> Bool {
        let handler = lock.withLock {
            defer { self.handler = nil }
            return self.handler
        }
        guard let handler else { return false }
        first()
        handler(with(attachments))
        return true
    }

    private func with(_ attachments: [UNNotificationAttachment]) -> UNNotificationContent {
        guard !attachments.isEmpty, let copy = content.mutableCopy() as? UNMutableNotificationContent else {
            return content
        }
        copy.attachments = attachments
        return copy
    }
}
