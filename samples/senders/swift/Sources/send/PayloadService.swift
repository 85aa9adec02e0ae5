import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The client of `POST /v1/payloads`.
struct PayloadService {
    /// The largest payload that APNs accepts.
    private static let payloadBytes = 4_096

    /// The payload to send: media URLs are replaced by those of prepared files. Nil if it cannot be sent.
    func prepare(_ message: Message, recipients: Int) async throws -> Data? {
        guard let url = URL(string: try variable("ATTACHPREP_URL", or: "http://127.0.0.1:8080") + "/v1/payloads")
        else { throw SendError(description: "ATTACHPREP_URL is not a URL") }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.timeoutInterval = 60
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let token = ProcessInfo.processInfo.environment["ATTACHPREP_TOKEN"] {
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        }
        let original = try JSONSerialization.jsonObject(with: message.payload)
        request.httpBody = try JSONSerialization.data(withJSONObject: [
            "payload": original,
            "request": ["rendition": "display"],
            "campaign": message.name,
            "recipients": recipients,
        ])
        var problem = ""
        for attempt in 0..<attempts {
            var retryAfter: String?
            do {
                let (body, response) = try await URLSession.shared.data(for: request)
                let answer = response as? HTTPURLResponse
                switch answer?.statusCode {
                case 200:
                    let result = try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:]
                    for warning in result["warnings"] as? [[String: Any]] ?? [] {
                        complain("\(message.name): \(warning["code"] ?? ""): \(warning["message"] ?? "")")
                    }
                    return try compact(result["payload"] ?? original, of: message)
                case 422 where String(decoding: body, as: UTF8.self).contains(#""payload.no_media""#):
                    return try compact(original, of: message)
                case 401: throw SendError(description: "attachprep answered 401: set ATTACHPREP_TOKEN")
                case 429, 503: retryAfter = answer?.value(forHTTPHeaderField: "Retry-After")
                default:
                    complain("\(message.name): not sent: \(String(decoding: body, as: UTF8.self))")
                    return nil
                }
                problem = String(decoding: body, as: UTF8.self)
            } catch let error as URLError {
                problem = error.localizedDescription
            }
            try await pause(attempt, retryAfter: retryAfter)
        }
        complain("\(message.name): not sent: \(problem)")
        return nil
    }

    /// JSON without spaces and escapes: otherwise each "/" of a URL would take two bytes of the payload.
    private func compact(_ object: Any, of message: Message) throws -> Data? {
        let payload = try JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
        guard payload.count <= Self.payloadBytes else {
            complain("\(message.name): not sent: \(payload.count) bytes, more than \(Self.payloadBytes)")
            return nil
        }
        return payload
    }
}
