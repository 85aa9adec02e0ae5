public import Foundation

// Apple does not document the values.
public let UNNotificationAttachmentOptionsTypeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"
public let UNNotificationAttachmentOptionsThumbnailHiddenKey = "UNNotificationAttachmentOptionsThumbnailHiddenKey"
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey =
    "UNNotificationAttachmentOptionsThumbnailClippingRectKey"
public let UNNotificationAttachmentOptionsThumbnailTimeKey = "UNNotificationAttachmentOptionsThumbnailTimeKey"

/// Validates like iOS: the type hint, else the exact extension; then the size. The content is not checked.
open class UNNotificationAttachment: NSObject {
    public let identifier: String
    public let url: URL
    public let type: String
    /// Not in the SDK: the options of the initializer.
    public let options: [AnyHashable: Any]

    public init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
        guard url.isFileURL, FileManager.default.isReadableFile(atPath: url.path) else {
            throw UNError(.attachmentInvalidURL)
        }
        let hint = options?[UNNotificationAttachmentOptionsTypeHintKey] as? String
        guard let type = hint ?? Self.types[url.pathExtension.lowercased()], let bytesMax = Self.bytesMax[type] else {
            throw UNError(.attachmentUnrecognizedType)
        }
        let bytes = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        guard bytes > 0, bytes <= bytesMax else { throw UNError(.attachmentInvalidFileSize) }
        self.identifier = identifier.isEmpty ? UUID().uuidString : identifier
        self.url = url
        self.type = type
        self.options = options ?? [:]
    }

    private static let bytesMax: [String: Int] = [
        "public.jpeg": 10_000_000, "public.png": 10_000_000, "com.compuserve.gif": 10_000_000,
        "public.aiff-audio": 5_000_000, "com.microsoft.waveform-audio": 5_000_000, "public.mp3": 5_000_000,
        "public.mpeg-4-audio": 5_000_000, "public.mpeg": 50_000_000, "public.mpeg-2-video": 50_000_000,
        "public.mpeg-4": 50_000_000, "public.avi": 50_000_000,
        // Not documented.
        "public.heic": 10_000_000, "com.apple.coreaudio-format": 5_000_000, "public.aifc-audio": 5_000_000,
        "org.3gpp.adaptive-multi-rate-audio": 5_000_000, "com.apple.quicktime-movie": 50_000_000,
        "public.3gpp": 50_000_000, "public.3gpp2": 50_000_000,
    ]

    private static let types: [String: String] = [
        "jpg": "public.jpeg", "jpeg": "public.jpeg", "png": "public.png", "gif": "com.compuserve.gif",
        "aiff": "public.aiff-audio", "aif": "public.aiff-audio", "wav": "com.microsoft.waveform-audio",
        "mp3": "public.mp3", "m4a": "com.apple.m4a-audio", "mpg": "public.mpeg", "mpeg": "public.mpeg",
        "m2v": "public.mpeg-2-video", "mp4": "public.mpeg-4", "avi": "public.avi",
    ]
}

/// The errors of UserNotifications, with Apple's codes.
public struct UNError: CustomNSError {
    public enum Code: Int, Sendable {
        case attachmentInvalidURL = 100
        case attachmentUnrecognizedType = 101
        case attachmentInvalidFileSize = 102
        case attachmentNotInDataStore = 103
        case attachmentMoveIntoDataStoreFailed = 104
        case attachmentCorrupt = 105
    }

    public static let errorDomain = "UNErrorDomain"
    public let code: Code
    public var errorCode: Int { code.rawValue }

    init(_ code: Code) { self.code = code }
}
