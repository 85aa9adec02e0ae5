import APNS
import APNSCore
import Crypto
import Foundation
import NIOCore

/// What became of a notification for one device.
enum Outcome {
    case sent
    /// The device token will never work again for this app.
    case removed
    case failed
}

/// Sends payloads over APNSwift, which keeps one HTTP/2 connection and signs a provider token every 55 minutes.
struct NotificationSender {
    private let client: APNSClient<JSONDecoder, UnchangedEncoder>
    private let topic: String
    private let concurrency: Int

    /// How long APNs keeps a notification for a phone that is off.
    private static let lifetimeSeconds = 24 * 60 * 60
    private static let gone: Set<String> = [
        "Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic",
    ]
    /// Every notification would be rejected like this one: key, team, topic or environment is wrong.
    private static let misconfigured: Set<String> = [
        "MissingTopic", "BadTopic", "TopicDisallowed", "BadCertificateEnvironment",
    ]

    init() throws {
        topic = try variable("APNS_TOPIC")
        concurrency = Int(try variable("APNS_CONCURRENCY", or: "100")) ?? 100
        guard let url = URLComponents(string: try variable("APNS_URL", or: "https://api.sandbox.push.apple.com")),
            let host = url.host
        else { throw SendError(description: "APNS_URL is not a URL") }
        client = APNSClient(
            configuration: APNSClientConfiguration(
                authenticationMethod: .jwt(
                    privateKey: try P256.Signing.PrivateKey(
                        pemRepresentation: String(contentsOfFile: variable("APNS_KEY"), encoding: .utf8)),
                    keyIdentifier: try variable("APNS_KEY_ID"),
                    teamIdentifier: try variable("APNS_TEAM_ID")),
                environment: .custom(url: "https://\(host)", port: url.port ?? 443)),
            eventLoopGroupProvider: .createNew,
            responseDecoder: JSONDecoder(),
            requestEncoder: UnchangedEncoder())
    }

    func shutdown() async throws {
        try await client.shutdown()
    }

    /// Sends one message to all devices, at most `concurrency` at a time; returns the outcome of each device.
    func send(_ payload: Data, name: String, to devices: [String]) async throws -> [String: Outcome] {
        guard let first = devices.first else { return [:] }
        // APNs allows one request at a time until it has accepted a token, and this one shows whether the key is right.
        var outcomes = [first: try await deliver(payload, name: name, to: first)]
        try await withThrowingTaskGroup(of: (String, Outcome).self) { group in
            for (index, device) in devices.dropFirst().enumerated() {
                if index >= concurrency, let (ended, outcome) = try await group.next() { outcomes[ended] = outcome }
                group.addTask { (device, try await deliver(payload, name: name, to: device)) }
            }
            for try await (ended, outcome) in group { outcomes[ended] = outcome }
        }
        return outcomes
    }

    /// Sends one notification, and repeats it if that may help.
    private func deliver(_ payload: Data, name: String, to device: String) async throws -> Outcome {
        let request = APNSRequest(
            message: UnchangedPayload(json: payload),
            deviceToken: device,
            pushType: .alert,
            expiration: .timeIntervalSince1970InSeconds(Int(Date().timeIntervalSince1970) + Self.lifetimeSeconds),
            priority: .immediately,
            apnsID: UUID(),
            topic: topic,
            // A second notification with the same ID replaces the first on the phone, so repeating is harmless.
            collapseID: name)
        var problem = ""
        for attempt in 0..<attempts {
            do {
                _ = try await client.send(request)
                return .sent
            } catch let error as APNSError {
                let (status, reason) = (error.responseStatus, error.reason?.reason ?? "")
                problem = "\(status) \(reason)"
                if Self.gone.contains(reason) {
                    print("remove \(device) \(reason)")
                    return .removed
                }
                if status == 403 || Self.misconfigured.contains(reason) {
                    throw SendError(
                        description: "APNs answered \(problem): check APNS_KEY, _KEY_ID, _TEAM_ID, _TOPIC and _URL")
                }
                if status < 500, status != 429 { break }
            } catch {
                // The connection ended; the client opens another one.
                problem = "0 \(error)"
            }
            if attempt < attempts - 1 { try await pause(attempt) }
        }
        complain("\(name): \(device): \(problem)")
        return .failed
    }
}

/// The payload as the service returned it. APNSwift's own notifications are built from values and would drop members
/// that they do not know.
struct UnchangedPayload: APNSMessage {
    let json: Data
}

/// Writes an `UnchangedPayload` as it is.
struct UnchangedEncoder: APNSJSONEncoder, Sendable {
    func encode<T: Encodable>(_ value: T, into buffer: inout ByteBuffer) throws {
        guard let payload = value as? UnchangedPayload else {
            throw SendError(description: "only payloads of the service are sent")
        }
        buffer.writeBytes(payload.json)
    }
}
