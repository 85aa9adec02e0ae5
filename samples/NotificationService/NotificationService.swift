import Foundation
import RichPush
import UserNotifications

/// Attaches what a payload brings along, and counts that it arrived.
///
/// iOS makes one for each notification that has `mutable-content: 1` and an alert, and shows what the content handler
/// is given; after 30 seconds, often sooner, it asks for the best attempt by `serviceExtensionTimeWillExpire`.
final class NotificationService: UNNotificationServiceExtension {
    private let settings: DeviceSettings
    /// iOS calls on threads of its own choice.
    private let arrival = Guarded<Arrival?>(nil)

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
        let arrival = Arrival(
            PushContent(userInfo: request.content.userInfo), settings, Delivery(request.content, contentHandler))
        self.arrival.set(arrival)
        arrival.begin()
    }

    override func serviceExtensionTimeWillExpire() {
        arrival.value?.expire()
    }

    /// Waits until nothing is under way any more, reports included.
    func finished() async {
        await arrival.value?.finished()
    }
}
