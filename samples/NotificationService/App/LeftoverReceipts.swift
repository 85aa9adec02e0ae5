import Foundation

/// Reports of arrival that the extension could not send, sent by the app when it starts.
///
/// The extension sends them only with the next notification, and may have no time or no connection then. It stores them
/// in the container of the app group, where the app finds them: both need the same `AttachPrepAppGroup` in their
/// Info.plist and the capability App Groups.
///
/// Compile this file into the app, together with `DeviceSettings`, `PendingReceipts`, `ReceiptSender` and
/// `Synchronization` of the extension.
nonisolated enum LeftoverReceipts {
    /// Sends them in the background, newest first; call this at each start of the app.
    ///
    /// The extension may send the same report at the same time: reports with one id count once.
    static func sendInBackground(_ settings: DeviceSettings = .standard) {
        Task.detached(priority: .utility) { await send(settings) }
    }

    /// Sends them and returns how many are left, because the service did not answer.
    @discardableResult
    static func send(_ settings: DeviceSettings = .standard) async -> Int {
        let receipts = PendingReceipts(folder: settings.receiptFolder)
        await ReceiptSender.shared.send(receipts)
        return receipts.ready.count
    }
}
