import Foundation
import RichPush

/// Folders and time limits of the extension.
nonisolated struct DeviceSettings: Sendable {
    /// The folder for downloads, with a subfolder for each notification.
    var mediaFolder: URL
    /// The folder for reports that are not sent yet.
    var receiptFolder: URL
    /// The folders that are searched for files of the app's bundle.
    var bundleFolders: [URL]
    var deadline = FetchDeadline()
}

nonisolated extension DeviceSettings {
    static var standard: DeviceSettings {
        DeviceSettings(
            mediaFolder: FileManager.default.temporaryDirectory.appendingPathComponent("attachprep", isDirectory: true),
            receiptFolder: sharedFolder.appendingPathComponent("attachprep-receipts", isDirectory: true),
            // The extension is in the folder PlugIns of its app.
            bundleFolders: [
                Bundle.main.bundleURL,
                Bundle.main.bundleURL.deletingLastPathComponent().deletingLastPathComponent(),
            ])
    }

    /// The app group's caches folder, which the app can read, too; without a group, the extension's caches folder.
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
