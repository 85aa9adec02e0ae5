import Foundation
import RichPushExtension
import UserNotifications

/// The class of an app: its settings and `modify` are options of the simulated device.
final class SimulatedService: RichPushService {
    private let options: DeviceOptions

    init(_ options: DeviceOptions) {
        self.options = options
        super.init()
    }

    override var settings: RichPushSettings { options.settings }

    override func modify(
        _ content: UNMutableNotificationContent, attachments: [UNNotificationAttachment]
    ) async -> UNNotificationContent {
        switch options.modification {
        case "title":
            let guest = content.userInfo["podcast-guest"] as? String ?? "nobody"
            content.title = "\(guest), \(attachments.map(\.identifier))"
        case "decrypt":
            // The payload is Base64, which stands for a cipher.
            guard let text = content.userInfo["encrypted"] as? String, let data = Data(base64Encoded: text),
                let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
            else { break }
            content.title = object["title"] as? String ?? ""
            content.userInfo = object
        case "avatar":
            content.title = "avatar of \(Self.bytes(attachments)) bytes"
            content.attachments = []
        case "hang once attached":
            content.title = "no attachment yet"
            guard !attachments.isEmpty else { break }
            await Self.hang()
            content.title = "too late"
        case "hang":
            await Self.hang()
        default: break
        }
        return content
    }

    private static func bytes(_ attachments: [UNNotificationAttachment]) -> Int {
        attachments.compactMap { try? Data(contentsOf: $0.url).count }.reduce(0, +)
    }

    /// Returns when the task is cancelled.
    private static func hang() async {
        FileHandle.standardError.write(Data("hangs\n".utf8))
        for await _ in AsyncStream<Void>(Void.self, { _ in }) {}
    }
}
