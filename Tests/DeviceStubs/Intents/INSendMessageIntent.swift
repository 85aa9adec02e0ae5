// The part of Intents that the guide uses, with the signatures of Apple's SDK, so that its Swift can be type-checked.
public import Foundation
public import UserNotifications

open class INImage: NSObject {
    public convenience init(imageData: Data) { self.init() }
}

public struct INPersonHandleType: Sendable {
    public static let unknown = INPersonHandleType()
}

open class INPersonHandle: NSObject {
    public init(value: String?, type: INPersonHandleType) {}
}

open class INPerson: NSObject {
    public init(
        personHandle: INPersonHandle, nameComponents: PersonNameComponents?, displayName: String?, image: INImage?,
        contactIdentifier: String?, customIdentifier: String?
    ) {}
}

open class INSpeakableString: NSObject {
    public init(spokenPhrase: String) {}
}

public enum INOutgoingMessageType: Int, Sendable {
    case unknown, outgoingMessageText
}

open class INSendMessageAttachment: NSObject {}

open class INSendMessageIntent: NSObject, UNNotificationContentProviding {
    public init(
        recipients: [INPerson]?, outgoingMessageType: INOutgoingMessageType, content: String?,
        speakableGroupName: INSpeakableString?, conversationIdentifier: String?, serviceName: String?,
        sender: INPerson?, attachments: [INSendMessageAttachment]?
    ) {}
}

public enum INInteractionDirection: Int, Sendable {
    case unspecified, outgoing, incoming
}

open class INInteraction: NSObject {
    public var direction = INInteractionDirection.unspecified

    public init(intent: INSendMessageIntent, response: Any?) {}

    public func donate() async throws {}
}
