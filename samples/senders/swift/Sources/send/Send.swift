import Foundation

/// Sends a campaign to APNs, with media prepared by attachprep and sent with APNSwift.
///
/// ```sh
/// export APNS_KEY=AuthKey_ABC123DEFG.p8 APNS_KEY_ID=ABC123DEFG APNS_TEAM_ID=DEF123GHIJ APNS_TOPIC=com.example.app
/// ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... swift run send campaign.jsonl devices.txt
/// ```
///
/// Each line of campaign.jsonl is `{"name": "spring", "payload": {…}}`, where the payload can be the name of a file in
/// the folder "payloads" beside it; devices.txt has one device token a line. See README.md for all variables and the
/// output.
@main struct Send {
    static func main() async {
        guard CommandLine.arguments.count == 3 else {
            complain("usage: send CAMPAIGN DEVICES; see the head of Send.swift")
            exit(1)
        }
        do {
            exit(try await run(CommandLine.arguments[1], CommandLine.arguments[2]) ? 0 : 1)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    /// Whether all notifications were sent.
    private static func run(_ campaign: String, _ list: String) async throws -> Bool {
        let messages = try Message.read(campaign)
        var devices = try readDevices(list)
        let service = PayloadService()
        let sender = try NotificationSender()
        var failed = 0
        for message in messages {
            var outcomes: [String: Outcome] = [:]
            if let payload = try await service.prepare(message, recipients: max(devices.count, 1)) {
                outcomes = try await sender.send(payload, name: message.name, to: devices)
            }
            let sent = outcomes.values.count { $0 == .sent }
            let removed = outcomes.values.count { $0 == .removed }
            let missing = devices.count - sent - removed
            failed += missing
            print("\(message.name): sent \(sent), removed \(removed), failed \(missing)")
            devices.removeAll { outcomes[$0] == .removed }
        }
        try await sender.shutdown()
        return failed == 0
    }

    private static func readDevices(_ list: String) throws -> [String] {
        var seen: Set<String> = []
        let devices = try String(contentsOfFile: list, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        for device in devices where !device.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            throw SendError(description: "\(list): \(device) is not a device token in hexadecimal")
        }
        return devices.map(String.init).filter { seen.insert($0).inserted }
    }
}

/// One notification of a campaign.
struct Message {
    /// Also the campaign that receipts are counted for, and the collapse ID.
    let name: String
    /// A JSON object.
    let payload: Data

    static func read(_ campaign: String) throws -> [Message] {
        let folder = URL(fileURLWithPath: campaign).deletingLastPathComponent().appendingPathComponent("payloads")
        let text = try String(contentsOfFile: campaign, encoding: .utf8)
        return try text.split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let name = object?["name"] as? String, let payload = object?["payload"] else {
                throw SendError(description: "\(campaign): a line without name and payload")
            }
            if let file = payload as? String {
                return Message(name: name, payload: try Data(contentsOf: folder.appendingPathComponent(file)))
            }
            return Message(name: name, payload: try JSONSerialization.data(withJSONObject: payload))
        }
    }
}

/// Ends the program: nothing more can be sent.
struct SendError: Error, CustomStringConvertible {
    let description: String
}

/// A variable of the environment; without `otherwise` it is required.
func variable(_ name: String, or otherwise: String? = nil) throws -> String {
    guard let value = ProcessInfo.processInfo.environment[name] ?? otherwise else {
        throw SendError(description: "\(name) is not set")
    }
    return value
}

func complain(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}

/// Exponential back-off with jitter, or longer if the server says so.
func pause(_ attempt: Int, retryAfter: String? = nil) async throws {
    let first = Double(try variable("APNS_BACKOFF", or: "1")) ?? 1
    let backoff = min(first * pow(2, Double(attempt)), 60) * Double.random(in: 0.5...1)
    try await Task.sleep(for: .seconds(max(backoff, retryAfter.flatMap(Double.init) ?? 0)))
}

/// How often a request is sent before it is given up.
let attempts = 5
