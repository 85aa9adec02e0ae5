// The part of UserNotificationsUI that samples/NotificationContent uses.
public import Foundation
public import UIKit
public import UserNotifications

public final class UNNotification {
    public let request: UNNotificationRequest

    public init(request: UNNotificationRequest) { self.request = request }
}

public enum UNNotificationContentExtensionMediaPlayPauseButtonType: UInt, Sendable {
    case none, `default`, overlay
}

@MainActor public protocol UNNotificationContentExtension {
    func didReceive(_ notification: UNNotification)
    var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { get }
    var mediaPlayPauseButtonFrame: CGRect { get }
    var mediaPlayPauseButtonTintColor: UIColor { get }
    func mediaPlay()
    func mediaPause()
}
