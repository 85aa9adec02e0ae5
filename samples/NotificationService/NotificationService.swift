import Foundation
import RichPush
import UserNotifications

/// Attaches the media of a notification and reports its arrival.
///
/// iOS creates an instance for each notification that has `mutable-content: 1` and an alert, and shows the content
/// passed to the content handler. After 30 s, often sooner, it calls `serviceExtensionTimeWillExpire`.
nonisolated final class NotificationService: UNNotificationServiceExtension {
    private let settings: DeviceSettings
    /// Locked, since iOS may call the methods on different threads.
    private let delivery = Locked<NotificationDelivery?>(nil)

    override init() {
        settings = .standard
        super.init()
    }

    init(settings: DeviceSettings) {
        self.settings = settings
        super.init()
    }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let delivery = NotificationDelivery(
            PushContent(userInfo: request.content.userInfo), settings, ContentHandler(request.content, contentHandler))
        self.delivery.set(delivery)
        delivery.begin()
    }

    override func serviceExtensionTimeWillExpire() {
        delivery.value?.expire()
    }

    /// Waits until downloads and reports have ended.
    func finished() async {
        await delivery.value?.finished()
    }
}
