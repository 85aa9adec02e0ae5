package import Foundation

/// Reports of arrival that the extension could not send, sent by the app when it starts.
///
/// The extension sends a report right after its notification was delivered. Without a connection, or when iOS ends the
/// extension first, the report stays in the container of the app group until the next notification or the next start of
/// the app: both need the capability App Groups with the same group.
@available(iOS 15, macOS 12, *)
public enum RichPushReceipts {
    /// Sends them in the background, newest first; call this at each start of the app.
    ///
    /// The extension may send the same report at the same time: reports with one id count once.
    ///
    /// - Parameter appGroup: The app group of app and extension; nil for `AppGroup` of the dictionary `RichPush` in the
    ///   app's Info.plist.
    public static func sendInBackground(appGroup: String? = nil) {
        Task.detached(priority: .utility) { await send(appGroup: appGroup) }
    }

    /// Sends them and returns how many are left, because the service did not answer.
    ///
    /// - Parameter appGroup: As in ``sendInBackground(appGroup:)``.
    @discardableResult
    public static func send(appGroup: String? = nil) async -> Int {
        await send(from: folder(appGroup: appGroup ?? infoAppGroup))
    }

    package static func send(from folder: URL) async -> Int {
        let receipts = PendingReceipts(folder: folder)
        await ReceiptSender.shared.send(receipts)
        return receipts.ready.count
    }

    /// The folder of unsent reports: in the group's caches folder, which app and extension can read, or in the caller's
    /// own without a group.
    package static func folder(appGroup: String?) -> URL {
        caches(appGroup: appGroup).appendingPathComponent("richpush-receipts", isDirectory: true)
    }

    /// The app group that the Info.plist names.
    package static var infoAppGroup: String? {
        let settings = Bundle.main.object(forInfoDictionaryKey: infoKey) as? [String: Any]
        return settings?["AppGroup"] as? String
    }

    /// The dictionary in the Info.plist of app and extension that holds the settings.
    package static let infoKey = "RichPush"

    private static func caches(appGroup: String?) -> URL {
        #if canImport(Darwin)
            if let appGroup, !appGroup.isEmpty,
                let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroup)
            {
                return folder.appendingPathComponent("Library/Caches", isDirectory: true)
            }
        #endif
        return FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
    }
}
