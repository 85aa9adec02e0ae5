// A simulated device on Linux: runs the notification service extension of an app, over RichPushExtension, for one
// notification.
//
//     tools/simulated-device FOLDER                       builds FOLDER/simulated-device
//     simulated-device [options] < payload.json           the payload as APNs delivers it: userInfo
//
//     --folder DIR           the device's folder: DIR/media, DIR/receipts and DIR/store. Unsent receipts stay there for
//                            the next run. By default a temporary folder, which is removed at the end.
//     --bundle DIR           the app bundle's files
//     --timeout SECONDS      the extension's own timeout (24)
//     --info JSON            the dictionary RichPush of the Info.plist: {"MediaKeys": ["data.image"]}
//     --languages LIST       the user's languages, separated by commas
//     --modify NAME          what the app's class changes: see SimulatedService
//     --sample               runs the sample's class as it is; it keeps its files in TMPDIR and XDG_CACHE_HOME
//     --expire-after SECONDS when to call serviceExtensionTimeWillExpire (30)
//     --app-start            what the app does when it starts, instead of a notification: sends the reports left in
//                            DIR/receipts, and prints {"receipts": number that are still there}
//     --read                 prints what RichPush reads from the payload, and fetches nothing
//     --series               many notifications, one a line: see NotificationSeries
//
// SIGUSR1 calls serviceExtensionTimeWillExpire at once. Prints one line of JSON:
//
//     {"handedOver": 1, "seconds": 0.41, "title": "…", "body": "…",
//      "attachments": [{"identifier": "0", "file": "attachment.jpg", "uti": "public.jpeg", "bytes": 61220,
//                       "sha256": "…", "path": "DIR/store/…", "options": {"typeHint": "public.jpeg"}}],
//      "left": ["paths in DIR/media that were not cleaned up"], "receipts": 0,
//      "memoryStart": 30000, "memoryPeak": 36000}
//
// Times are seconds from didReceive until the content was handed over; memory is the peak resident size in KB.
// Standard error lists what was rejected and why, such as "0: digest".
import Foundation
import RichPush
import RichPushExtension
import RichPushReceipts
import UserNotifications

@main
struct SimulatedDevice {
    static func main() async throws {
        let options = try DeviceOptions(CommandLine.arguments.dropFirst())
        if options.isAppStart {
            return try print(["receipts": await RichPushReceipts.send(from: options.receiptFolder)])
        }
        // On Linux, URLSession does not remove the files of ended downloads.
        let temporary = options.folder.appendingPathComponent("temporary", isDirectory: true)
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        setenv("TMPDIR", temporary.path, 1)
        defer { try? FileManager.default.removeItem(at: options.isTemporary ? options.folder : temporary) }
        let input = FileHandle.standardInput.readDataToEndOfFile()
        if options.isSeries {
            var report = try await NotificationSeries(input, options).run()
            report["left"] = files(in: options.settings.mediaFolder)
            return try print(report)
        }
        guard let userInfo = try JSONSerialization.jsonObject(with: input) as? [String: Any] else {
            throw DeviceOptions.UsageError("the payload is not a JSON object")
        }
        if options.isReading { return try read(userInfo) }
        let screen = Screen(store: options.folder.appendingPathComponent("store", isDirectory: true))
        let service = options.isSample ? NotificationService() : SimulatedService(options)
        let memoryStart = Screen.memoryPeak
        let signals = expire(service, after: options.expireSeconds)
        defer { signals.cancel() }
        screen.begin()
        service.didReceive(request(userInfo), withContentHandler: screen.show)
        await service.finished()
        var report = screen.report
        report["left"] = files(in: options.settings.mediaFolder)
        report["receipts"] = files(in: options.receiptFolder).count
        report["memoryStart"] = memoryStart
        report["memoryPeak"] = Screen.memoryPeak
        try print(report)
    }

    private static func read(_ userInfo: [String: Any]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let content = PushContent(userInfo: userInfo) ?? PushContent(attachments: [])
        FileHandle.standardOutput.write(try encoder.encode(content) + Data("\n".utf8))
    }

    static func request(_ userInfo: [String: Any]) -> UNNotificationRequest {
        let content = UNMutableNotificationContent()
        let alert = (userInfo["aps"] as? [String: Any])?["alert"]
        content.title = (alert as? [String: Any])?["title"] as? String ?? ""
        content.body = (alert as? [String: Any])?["body"] as? String ?? alert as? String ?? ""
        content.userInfo = userInfo
        return UNNotificationRequest(identifier: UUID().uuidString, content: content)
    }

    /// Ends the extension after `seconds` and on SIGUSR1.
    private static func expire(_ service: RichPushService, after seconds: Double) -> any DispatchSourceSignal {
        // The extension may be called from any thread, although its class is not Sendable.
        nonisolated(unsafe) let service = service
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { service.serviceExtensionTimeWillExpire() }
        signal(SIGUSR1, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .global())
        source.setEventHandler { service.serviceExtensionTimeWillExpire() }
        source.resume()
        return source
    }

    private static func files(in folder: URL) -> [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private static func print(_ report: [String: Any]) throws {
        let data = try JSONSerialization.data(withJSONObject: report, options: [.sortedKeys, .withoutEscapingSlashes])
        FileHandle.standardOutput.write(data + Data("\n".utf8))
    }
}
