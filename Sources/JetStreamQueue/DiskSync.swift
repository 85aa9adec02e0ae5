import AttachPrep
import FoundationEssentials
import RichPush
import SafeArithmetic

/// When a NATS server flushes acknowledged messages to its disk, from its monitoring endpoint (`/jsz`).
///
/// Clients of the queue's account cannot query it: `$JS.API.INFO` does not contain it, and `$SYS` requests need the
/// system account.
public struct DiskSync: Codable, Sendable, Hashable {
    /// Seconds until acknowledged messages are flushed; 0 if they are flushed before they are acknowledged.
    public var intervalSeconds: Double

    /// Reads the responses of `/jsz` and `/varz`, in which the interval is in nanoseconds.
    init?(_ json: [UInt8], serverID: String?) {
        guard let status = try? JSONDecoder().decode(MonitoringStatus.self, from: Data(json)),
            let configuration = status.config ?? status.jetstream?.config,
            // Another server may use the port on the same host.
            serverID == nil || status.server_id == serverID
        else { return nil }
        guard configuration.sync_always != true else {
            intervalSeconds = 0
            return
        }
        guard let nanoseconds = configuration.sync_interval, nanoseconds >= 0 else { return nil }
        intervalSeconds = nanoseconds / 1_000_000_000
    }

    private struct MonitoringStatus: Decodable {
        struct JetStream: Decodable { let config: Configuration? }
        struct Configuration: Decodable {
            let sync_interval: Double?
            let sync_always: Bool?
        }
        let server_id: String?
        let config: Configuration?
        let jetstream: JetStream?
    }

    /// Queries the monitoring endpoint on a server's host; nil when it cannot be read.
    static func read(host: String, port: Int, serverID: String?, _ client: HTTPClient) async -> DiskSync? {
        let request = HTTPClientRequest(
            .get, "http://\(host):\(port)/jsz", answerBytesMax: Limits.monitoringBytesMax,
            deadline: .now + .seconds(Limits.monitoringSecondsMax))
        guard let response = try? await client.send(request), response.status == 200, response.isWhole else {
            return nil
        }
        return DiskSync(response.body, serverID: serverID)
    }
}

extension QueueDiagnostics {
    /// The port of a server's monitoring endpoint in `deploy/cluster` and in the documentation of NATS.
    public static let monitoringPort = 8222

    /// The host in a server's address; with brackets for IPv6.
    static func host(of address: String) -> String? {
        let authority = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        guard let colon = authority.lastIndex(of: ":") else { return authority.isEmpty ? nil : String(authority) }
        let host = authority[..<colon]
        return host.isEmpty ? nil : String(host)
    }

    /// What acknowledged jobs can be lost by, given when the servers flush them to their disks.
    static func syncWarnings(_ servers: [Server], copies: Int?, monitoringPort: Int) -> [String] {
        let reached = servers.filter { $0.version != nil }
        let late = reached.filter { ($0.diskSync?.intervalSeconds ?? 0) > 0 }
        let unknown = reached.filter { $0.diskSync == nil }
        var warnings: [String] = []
        if let longest = late.compactMap({ $0.diskSync?.intervalSeconds }).max() {
            let loss =
                (copies ?? 1) > 1
                ? "a power failure of most servers at the same time loses" : "a power failure of the server loses"
            warnings.append(
                "\(names(late)) flush jobs to disk up to \(Int(clamping: longest.rounded(.up))) s after their "
                    + "acknowledgment: \(loss) them; set sync_interval: always in the jetstream block unless the "
                    + "servers cannot fail together.")
        }
        if !unknown.isEmpty {
            warnings.append(
                "Unknown when \(names(unknown)) flush jobs to disk, because http://HOST:\(monitoringPort)/jsz cannot "
                    + "be read from here; check sync_interval in the jetstream block (default: 2 minutes).")
        }
        return warnings
    }

    private static func names(_ servers: [Server]) -> String { servers.map(\.address).joined(separator: ", ") }
}

extension Limits {
    /// Time limit for the monitoring endpoint of a NATS server, which answers in milliseconds.
    static let monitoringSecondsMax = 2.0
    /// Bytes of its response: some 1,000.
    static let monitoringBytesMax = 262_144
}
