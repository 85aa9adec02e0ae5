import RichPushReceipts
public import UserNotifications

/// The service extension of an app: attaches the media of a notification and reports its arrival.
///
/// An app's extension is one line, the class that its Info.plist names:
///
/// ```swift
/// final class NotificationService: RichPushService {}
/// ```
///
/// iOS creates an instance for each notification that has `mutable-content: 1` and an alert, and shows the content that
/// is passed to the content handler. After 30 s, often sooner, it calls `serviceExtensionTimeWillExpire`. The handler
/// is called exactly once, whatever the server, the payload or an override does.
@available(iOS 15, macOS 12, *)
open class RichPushService: UNNotificationServiceExtension {
    /// Locked, since iOS may call the methods on different threads.
    private let delivery = Locked<RichPushDelivery?>(nil)

    public override init() {
        super.init()
    }

    /// The settings for the next notification: those of the Info.plist.
    ///
    /// To set them by code, override it and change `super.settings`.
    open var settings: RichPushSettings { RichPushSettings() }

    /// Changes what is shown; by default nothing.
    ///
    /// It is called before anything is fetched, with no attachments, and again when media has arrived: at last with all
    /// that is shown. So it is a function of its arguments. The calls come one after another. The last result is shown;
    /// at expiry, that is the last one that was returned, with what has arrived since. Media, receipt and dialect are
    /// read from the `userInfo` of the first result, so that it may decrypt the payload.
    ///
    /// The time counts to the timeout. When it ends, the task of the call is cancelled.
    ///
    /// - Parameters:
    ///   - content: A copy of the notification's content, with the attachments.
    ///   - attachments: The attachments that have arrived; empty at first. Their files may be read during the call. The
    ///     sender's picture of the payload is among them, with the identifier `avatar`, but not in `content`.
    /// - Returns: The content to show: `content`, a copy, or what `UNNotificationContent.updating(from:)` returns. Its
    ///   attachments are shown as they are: remove those that should not be.
    @concurrent open func modify(
        _ content: UNMutableNotificationContent, attachments: [UNNotificationAttachment]
    ) async -> UNNotificationContent {
        content
    }

    open override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        // Calls of `modify` come one after another; iOS may call the class on any thread.
        nonisolated(unsafe) let service = self
        let delivery = RichPushDelivery(
            request: request, settings: settings,
            modify: { await unsafe service.modify($0, attachments: $1) },
            contentHandler: contentHandler)
        self.delivery.set(delivery)
        delivery.begin()
    }

    open override func serviceExtensionTimeWillExpire() {
        delivery.value?.expire()
    }

    /// Waits until downloads and reports have ended.
    package func finished() async {
        await delivery.value?.finished()
    }
}
