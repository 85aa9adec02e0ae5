import Foundation
import RichPush

/// Where things stand on this device, and how long everything may take.
struct DeviceSettings: Sendable {
    /// Downloads, in folders of their own.
    var mediaFolder: URL
    /// Arrivals that are not reported yet.
    var receiptFolder: URL
    /// Where files that the app brings along are looked for.
    var bundleFolders: [URL]
    var deadline = FetchDeadline()
}

extension DeviceSettings {
    static var standard: DeviceSettings {
        DeviceSettings(
            mediaFolder: FileManager.default.temporaryDirectory.appendingPathComponent("attachprep", isDirectory: true),
            receiptFolder: sharedFolder.appendingPathComponent("attachprep-receipts", isDirectory: true),
            // The extension stands in PlugIns of its app.
            bundleFolders: [
                Bundle.main.bundleURL,
                Bundle.main.bundleURL.deletingLastPathComponent().deletingLastPathComponent(),
            ])
    }

    /// The app group's, so that the app can look into it, too; without a group the extension's own caches.
    private static var sharedFolder: URL {
        #if canImport(Darwin)
            if let group = Bundle.main.object(forInfoDictionaryKey: "AttachPrepAppGroup") as? String, !group.isEmpty,
                let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
            {
                return folder.appendingPathComponent("Library/Caches", isDirectory: true)
            }
        #endif
        return FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
    }
}
