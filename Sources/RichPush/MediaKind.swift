/// What a notification shows an attachment as.
///
/// Source: Apple, `UNNotificationAttachment`, "Supported File Types".
public enum MediaKind: String, Codable, Sendable, Hashable, CaseIterable {
    case image
    case audio
    case movie
}
