// The part of UserNotifications that RichPushExtension uses, so that it compiles and runs on Linux. Its signatures
// are those of Apple's SDK; no type is Sendable here, so that no code relies on it.
public import Foundation

open class UNNotificationContent: NSObject, NSMutableCopying {
    public fileprivate(set) var title = ""
    public fileprivate(set) var body = ""
    public fileprivate(set) var userInfo: [AnyHashable: Any] = [:]
    public fileprivate(set) var attachments: [UNNotificationAttachment] = []

    public func mutableCopy(with zone: NSZone? = nil) -> Any {
        let copy = UNMutableNotificationContent()
        (copy.title, copy.body, copy.userInfo, copy.attachments) = (title, body, userInfo, attachments)
        return copy
    }
}

/// What `updating(from:)` takes, such as `INSendMessageIntent`.
public protocol UNNotificationContentProviding: NSObjectProtocol {}

extension UNNotificationContent {
    public func updating(from provider: any UNNotificationContentProviding) throws -> UNNotificationContent { self }
}

open class UNMutableNotificationContent: UNNotificationContent {
    open override var title: String {
        get { super.title }
        set { super.title = newValue }
    }

    open override var body: String {
        get { super.body }
        set { super.body = newValue }
    }

    open override var userInfo: [AnyHashable: Any] {
        get { super.userInfo }
        set { super.userInfo = newValue }
    }

    open override var attachments: [UNNotificationAttachment] {
        get { super.attachments }
        set { super.attachments = newValue }
    }
}

open class UNNotificationRequest: NSObject {
    public let identifier: String
    public let content: UNNotificationContent

    public init(identifier: String, content: UNNotificationContent) {
        self.identifier = identifier
        self.content = content
    }
}

open class UNNotificationServiceExtension: NSObject {
    public override init() {}

    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}

    open func serviceExtensionTimeWillExpire() {}
}
