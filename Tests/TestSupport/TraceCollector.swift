import Foundation
import Testing

/// A collector of OTLP on loopback that keeps every request; its answers can be scripted.
public struct TraceCollector: Sendable {
    public let server: LoopbackServer

    public init(_ answers: LoopbackResponse...) throws {
        server = try LoopbackServer()
        server.serve(
            "/v1/traces", inTurn: answers.isEmpty ? [.body(Data("{}".utf8), type: "application/json")] : answers)
    }

    /// The value of OTEL_EXPORTER_OTLP_ENDPOINT.
    public var endpoint: String { server.url("") }

    /// The bodies of all requests so far.
    public var bodies: [Data] { server.requests(to: "/v1/traces").map(\.body) }

    /// The spans of all requests so far, in order of arrival.
    public func spans() throws -> [ReceivedSpan] { try bodies.flatMap(ReceivedSpan.all) }
}

/// A span in a request, read without the product's code.
public struct ReceivedSpan: Sendable {
    public let name: String
    public let traceID: String
    public let spanID: String
    /// Nil for the first of a trace.
    public let parentID: String?
    public let traceState: String?
    /// As OTLP numbers it: 1 internal, 2 server, 3 client, 4 producer, 5 consumer.
    public let kind: Int
    /// Nanoseconds since 1970.
    public let start: UInt64
    public let end: UInt64
    public let hasFailed: Bool
    /// Values as text.
    public let attributes: [String: String]
    /// Attributes of the process.
    public let resource: [String: String]

    public var milliseconds: Double { Double(end - start) / 1_000_000 }

    static func all(_ body: Data) throws -> [ReceivedSpan] {
        let document = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        let resources = try #require(document["resourceSpans"] as? [[String: Any]])
        return try resources.flatMap { part in
            let resource = attributes(try #require(part["resource"] as? [String: Any]))
            let scopes = try #require(part["scopeSpans"] as? [[String: Any]])
            return try scopes.flatMap { try #require($0["spans"] as? [[String: Any]]) }.map {
                try ReceivedSpan($0, resource)
            }
        }
    }

    private init(_ json: [String: Any], _ resource: [String: String]) throws {
        name = try #require(json["name"] as? String)
        traceID = try #require(json["traceId"] as? String)
        spanID = try #require(json["spanId"] as? String)
        parentID = json["parentSpanId"] as? String
        traceState = json["traceState"] as? String
        kind = try #require(json["kind"] as? Int)
        start = try #require((json["startTimeUnixNano"] as? String).flatMap(UInt64.init))
        end = try #require((json["endTimeUnixNano"] as? String).flatMap(UInt64.init))
        hasFailed = (json["status"] as? [String: Any])?["code"] as? Int == 2
        attributes = Self.attributes(json)
        self.resource = resource
    }

    private static func attributes(_ json: [String: Any]) -> [String: String] {
        let list = (json["attributes"] as? [[String: Any]] ?? []).compactMap { attribute -> (String, String)? in
            guard let key = attribute["key"] as? String, let value = attribute["value"] as? [String: Any] else {
                return nil
            }
            return (key, value.values.map { "\($0)" }.joined())
        }
        return Dictionary(list) { $1 }
    }
}
