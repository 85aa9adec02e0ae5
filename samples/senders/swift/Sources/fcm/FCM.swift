import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends a campaign to FCM, with media prepared by attachprep for iOS, Android and browsers.
///
/// ```sh
/// export FCM_PROJECT=example-app FCM_ACCESS_TOKEN=$(gcloud auth print-access-token)
/// ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... swift run fcm campaign.jsonl devices.txt
/// ```
///
/// Each line of campaign.jsonl is `{"name": "spring", "payload": {"message": {…}}}`; devices.txt has one registration
/// token a line. See README.md for the output.
@MainActor @main struct FCM {
    private static let attempts = 5

    static func main() async throws {
        let files = try CommandLine.arguments[1...2].map { try String(contentsOfFile: $0, encoding: .utf8) }
        let devices = files[1].split(whereSeparator: \.isWhitespace).map(String.init)
        var failed = 0
        for line in files[0].split(separator: "\n") {
            guard let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let name = entry["name"] as? String, let original = entry["payload"] as? [String: Any]
            else { continue }
            let payload = try await prepare(name, original, recipients: devices.count)
            var counts = ["sent": 0, "removed": 0, "failed": 0]
            for device in devices {
                counts[try await send(name, payload["message"] as? [String: Any] ?? [:], to: device), default: 0] += 1
            }
            print(
                name + ": "
                    + ["sent", "removed", "failed"].map { "\($0) \(counts[$0, default: 0])" }
                    .joined(separator: ", "))
            failed += counts["failed", default: 0]
        }
        exit(failed == 0 ? 0 : 1)
    }

    /// The message to send: each system's media is at its own key. Without media, as it was.
    private static func prepare(
        _ name: String, _ original: [String: Any], recipients: Int
    ) async throws -> [String: Any] {
        let body: [String: Any] = [
            "payload": original, "campaign": name, "recipients": recipients,
            "request": ["rendition": "display", "targets": ["ios", "android", "web"]],
        ]
        let url = variable("ATTACHPREP_URL", or: "http://127.0.0.1:8080") + "/v1/payloads"
        let (status, answer) = try await post(url, body, token: variable("ATTACHPREP_TOKEN", or: ""))
        if status == 422, answer["code"] as? String == "payload.no_media" { return original }
        guard status == 200, let payload = answer["payload"] as? [String: Any] else {
            throw SendError(description: "attachprep: \(status): \(answer)")
        }
        for warning in answer["warnings"] as? [[String: Any]] ?? [] {
            complain("\(name): \(warning["code"] ?? ""): \(warning["message"] ?? "")")
        }
        return payload
    }

    /// Sends one message: "sent", "removed" or "failed".
    private static func send(_ name: String, _ message: [String: Any], to device: String) async throws -> String {
        var message = message.filter { !["topic", "condition"].contains($0.key) }
        message["token"] = device
        let url =
            variable("FCM_URL", or: "https://fcm.googleapis.com")
            + "/v1/projects/\(variable("FCM_PROJECT", or: ""))/messages:send"
        let (status, answer) = try await post(url, ["message": message], token: variable("FCM_ACCESS_TOKEN", or: ""))
        if status == 200 { return "sent" }
        // 404 UNREGISTERED: the token will never work again.
        if status == 404 {
            print("remove \(device) UNREGISTERED")
            return "removed"
        }
        complain("\(name): \(device): \(status) \(answer)")
        return "failed"
    }

    /// The status and the JSON of the answer; repeats what may succeed later.
    private static func post(
        _ address: String, _ body: [String: Any], token: String
    ) async throws -> (status: Int, body: [String: Any]) {
        guard let url = URL(string: address) else { throw SendError(description: "\(address) is not a URL") }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if !token.isEmpty { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        // Otherwise each "/" of a URL would take two bytes.
        request.httpBody = try JSONSerialization.data(withJSONObject: body, options: .withoutEscapingSlashes)
        for attempt in 1... {
            let (data, response) = try await URLSession.shared.data(for: request)
            let answer = response as? HTTPURLResponse
            let status = answer?.statusCode ?? 0
            guard [429, 500, 503].contains(status), attempt < attempts else {
                // An error's body may be empty, or a proxy's page.
                return (status, (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:])
            }
            let retryAfter = answer?.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init) ?? 0
            try await Task.sleep(for: .seconds(max(retryAfter, pow(2, Double(attempt - 1)))))
        }
        throw SendError(description: "\(address): no answer")
    }

    private static func variable(_ name: String, or otherwise: String) -> String {
        ProcessInfo.processInfo.environment[name] ?? otherwise
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}

/// Ends the program: nothing more can be sent.
struct SendError: Error, CustomStringConvertible {
    let description: String
}
