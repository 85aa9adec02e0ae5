import RichPushExtension
import UserNotifications

/// Attaches the media of notifications and reports their arrival; `modify` is what this app adds to it.
nonisolated final class NotificationService: RichPushService {
    override func modify(
        _ content: UNMutableNotificationContent, attachments: [UNNotificationAttachment]
    ) async -> UNNotificationContent {
        if let guest = content.userInfo["podcast-guest"] as? String {
            content.title = "New episode with \(guest)"
        }
        return content
    }
}
