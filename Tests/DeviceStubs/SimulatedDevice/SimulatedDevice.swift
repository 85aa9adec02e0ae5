// A device on Linux: the sample's notification service extension with RichPush behind it, run for one notification.
//
//     tools/simulated-device FOLDER                       builds FOLDER/simulated-device
//     simulated-device [options] < payload.json           the payload as APNs delivers it: userInfo
//
//     --folder DIR           DIR/media, DIR/receipts and DIR/store are the device's; arrivals that could not be
//                            reported wait there for the next run. Else a folder of its own, which goes at the end.
//     --bundle DIR           what the app brings along
//     --deadline SECONDS     of the extension (24)
//     --expire-after SECONDS serviceExtensionTimeWillExpire is called then (30)
//     --read                 prints what RichPush reads from the payload, and fetches nothing
//
// SIGUSR1 calls serviceExtensionTimeWillExpire at once. Prints one line of JSON:
//
//     {"handedOver": 1, "seconds": 0.41, "title": "…", "body": "…",
//      "attachments": [{"identifier": "0", "file": "attachment.jpg", "uti": "public.jpeg", "bytes": 61220,
//                       "sha256": "…", "path": "DIR/store/…", "options": {"typeHint": "public.jpeg"}}],
//      "left": ["paths in DIR/media that were not cleaned up"], "receipts": 0,
//      "memoryStart": 30000, "memoryPeak": 36000}
//
// Times are seconds from didReceive until the content was handed over; memory is the most resident so far, in KB.
// What was refused, and why, stands on standard error: "0: digest".
import Foundation
import RichPush
import UserNotifications

@main
struct SimulatedDevice {
    static func main() async throws {
        let options = DeviceOptions(CommandLine.arguments.dropFirst())
        let object = try JSONSerialization.jsonObject(with: FileHandle.standardInput.readDataToEndOfFile())
        guard let userInfo = object as? [String: Any] else { throw DeviceOptions.Wrong("the payload is no object") }
        if options.isReading { return try read(userInfo) }
        // Foundation's URLSession leaves files of ended downloads on Linux, which a phone does not keep.
        let temporary = options.folder.appendingPathComponent("temporary", isDirectory: true)
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        setenv("TMPDIR", temporary.path, 1)
        defer { try? FileManager.default.removeItem(at: options.isTemporary ? options.folder : temporary) }
        let screen = Screen(store: options.folder.appendingPathComponent("store", isDirectory: true))
        let service = NotificationService(settings: options.settings)
        let memoryStart = Screen.memoryPeak
        let signals = expire(service, after: options.expireSeconds)
        defer { signals.cancel() }
        screen.begin()
        service.didReceive(request(userInfo), withContentHandler: screen.show)
        await service.finished()
        var report = screen.report
        report["left"] = left(in: options.settings.mediaFolder)
        report["receipts"] = left(in: options.settings.receiptFolder).count
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

    private static func request(_ userInfo: [String: Any]) -> UNNotificationRequest {
        let content = UNMutableNotificationContent()
        let alert = (userInfo["aps"] as? [String: Any])?["alert"]
        content.title = (alert as? [String: Any])?["title"] as? String ?? ""
        content.body = (alert as? [String: Any])?["body"] as? String ?? alert as? String ?? ""
        content.userInfo = userInfo
        return UNNotificationRequest(identifier: UUID().uuidString, content: content)
    }

    /// By the clock, and by SIGUSR1.
    private static func expire(_ service: NotificationService, after seconds: Double) -> any DispatchSourceSignal {
        // The extension is made for calls from any thread, though its class cannot say so.
        nonisolated(unsafe) let service = service
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { service.serviceExtensionTimeWillExpire() }
        signal(SIGUSR1, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .global())
        source.setEventHandler { service.serviceExtensionTimeWillExpire() }
        source.resume()
        return source
    }

    private static func left(in folder: URL) -> [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private static func print(_ report: [String: Any]) throws {
        let data = try JSONSerialization.data(withJSONObject: report, options: [.sortedKeys, .withoutEscapingSlashes])
        FileHandle.standardOutput.write(data + Data("\n".utf8))
    }
}
