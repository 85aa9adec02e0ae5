public import Foundation
public import RichPush
import RichPushReceipts

/// How notifications are processed: defaults, changed by the extension's Info.plist and by code.
///
/// The Info.plist has them in a dictionary `RichPush`, with the names of these properties and a capital first letter:
/// `AppGroup`, `TimeoutSeconds`. A value of another type is ignored.
@available(iOS 15, macOS 12, *)
public struct RichPushSettings: Sendable {
    /// The app group in whose container unsent reports of arrival wait; nil for the extension's own caches folder,
    /// where the app does not find them.
    public var appGroup: String?
    /// Seconds from the notification's arrival until it is delivered with what has arrived: 1 to 29, by default 24.
    public var timeoutSeconds: Double {
        didSet { timeoutSeconds = Self.allowed(timeoutSeconds) }
    }
    /// The kinds of media in the order in which to try them (`image`, `movie`, `audio`); empty for the payload's order.
    public var kindPriorities: [MediaKind]
    /// The largest files to fetch over cellular (`ExpensiveBytesMax`) and in Low Data Mode (`ConstrainedBytesMax`, by
    /// default 1,000,000 bytes). The next attachment or the thumbnail is shown instead of a larger one. A file counts
    /// as larger when neither the payload nor the server gives its length.
    public var networkLimits: FetchNetworkLimits
    /// Keys of the app's own payloads that have media, such as `data.image`; they are read before the formats of push
    /// services. An object of languages at such a key, as in `{"en": "https://…", "default": "https://…"}`, gives the
    /// media in the user's language.
    public var mediaKeys: [String]
    /// Whether all attachments that arrive are delivered, for a content extension that shows a carousel; by default the
    /// first alone, since iOS shows one.
    public var attachesAll: Bool
    /// The user's languages in order of preference, for media per language; by default those of the device.
    public var languages: [String]

    /// The folder for downloads, with a subfolder for each notification.
    package var mediaFolder: URL
    /// The folders that are searched for files of the app's bundle.
    package var bundleFolders: [URL]
    /// The folder for reports that are not sent yet; nil for that of the app group.
    package var receiptFolder: URL?

    /// The settings of an Info.plist over the defaults.
    ///
    /// - Parameter info: The whole Info.plist; by default that of the extension.
    public init(info: [String: Any] = Bundle.main.infoDictionary ?? [:]) {
        let values = info[RichPushReceipts.infoKey] as? [String: Any] ?? [:]
        appGroup = values["AppGroup"] as? String
        timeoutSeconds = Self.allowed(values["TimeoutSeconds"] as? Double ?? Limits.deviceSeconds)
        kindPriorities = (values["KindPriorities"] as? [String] ?? []).compactMap(MediaKind.init(rawValue:))
        networkLimits = FetchNetworkLimits()
        if let bytes = values["ExpensiveBytesMax"] as? Int { networkLimits.expensiveBytesMax = bytes }
        if let bytes = values["ConstrainedBytesMax"] as? Int { networkLimits.constrainedBytesMax = bytes }
        mediaKeys = values["MediaKeys"] as? [String] ?? []
        attachesAll = values["AttachesAll"] as? Bool ?? false
        languages = Locale.preferredLanguages
        mediaFolder = FileManager.default.temporaryDirectory.appendingPathComponent("richpush", isDirectory: true)
        // The extension is in the folder PlugIns of its app.
        let bundle = Bundle.main.bundleURL
        bundleFolders = [bundle, bundle.deletingLastPathComponent().deletingLastPathComponent()]
    }

    /// The time limits of the downloads.
    var deadline: FetchDeadline { FetchDeadline(seconds: timeoutSeconds) }

    var pendingReceipts: PendingReceipts {
        PendingReceipts(folder: receiptFolder ?? RichPushReceipts.folder(appGroup: appGroup))
    }

    private static func allowed(_ seconds: Double) -> Double {
        seconds.isFinite ? min(max(seconds, Limits.deviceSecondsMin), Limits.deviceSecondsMax) : Limits.deviceSeconds
    }
}

extension Limits {
    /// The shortest timeout: less brings no picture on 3G.
    static let deviceSecondsMin = 1.0
    /// The longest timeout: one second before iOS ends the extension by its documentation.
    static let deviceSecondsMax = 29.0
}
