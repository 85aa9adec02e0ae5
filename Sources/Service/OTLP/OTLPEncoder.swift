internal import FoundationEssentials
internal import MediaTypes
internal import Tracing

/// Encodes spans as an OTLP export request in JSON.
///
/// <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>
package struct OTLPEncoder: Sendable {
    private let resource: ExportRequest.Resource
    private let scope: ExportRequest.Scope

    /// - Parameters:
    ///   - resource: attributes of the process, such as `service.name`.
    ///   - version: the version of attachprep.
    package init(resource: [(key: String, value: String)], version: String) {
        self.resource = ExportRequest.Resource(
            attributes: resource.map { ExportRequest.Attribute($0.key, .string($0.value)) })
        scope = ExportRequest.Scope(name: "attachprep", version: version)
    }

    /// - Throws: What `JSONEncoder` throws; every value of a span can be encoded.
    package func request(_ spans: [FinishedSpan]) throws -> [UInt8] {
        let scopeSpans = ExportRequest.ScopeSpans(scope: scope, spans: spans.map(ExportRequest.Span.init))
        let request = ExportRequest(
            resourceSpans: [ExportRequest.ResourceSpans(resource: resource, scopeSpans: [scopeSpans])])
        return Array(try JSONEncoder().encode(request))
    }
}

/// `ExportTraceServiceRequest`, with the names of OTLP.
private struct ExportRequest: Encodable {
    let resourceSpans: [ResourceSpans]

    struct ResourceSpans: Encodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    struct Resource: Encodable {
        let attributes: [Attribute]
    }

    struct ScopeSpans: Encodable {
        let scope: Scope
        let spans: [Span]
    }

    struct Scope: Encodable {
        let name: String
        let version: String
    }

    struct Status: Encodable {
        /// 2 is an error; nil is unset.
        let code: Int?
    }

    struct Attribute: Encodable {
        let key: String
        let value: AttributeValue

        init(_ key: String, _ value: SpanAttribute) {
            self.key = Self.limited(key)
            self.value = AttributeValue(value)
        }

        /// Cut to `spanTextBytesMax`; a scalar has at most four bytes.
        static func limited(_ text: String) -> String {
            guard text.utf8.count > Limits.spanTextBytesMax else { return text }
            return String(text.unicodeScalars.prefix(Limits.spanTextBytesMax / 4))
        }
    }

    /// `AnyValue`: one of its members is set.
    struct AttributeValue: Encodable {
        var boolValue: Bool?
        /// 64-bit integers are text in the JSON of Protocol Buffers.
        var intValue: String?
        var doubleValue: Double?
        var stringValue: String?

        init(_ value: SpanAttribute) {
            switch value {
            case .bool(let value): boolValue = value
            case .int32(let value): intValue = "\(value)"
            case .int64(let value): intValue = "\(value)"
            case .double(let value) where value.isFinite: doubleValue = value
            case .string(let value): stringValue = Attribute.limited(value)
            case .stringConvertible(let value): stringValue = Attribute.limited("\(value)")
            // attachprep records no lists.
            default: stringValue = ""
            }
        }
    }

    struct Span: Encodable {
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let traceState: String?
        let flags: Int
        let name: String
        let kind: Int
        let startTimeUnixNano: String
        let endTimeUnixNano: String
        let attributes: [Attribute]
        let status: Status

        init(_ span: FinishedSpan) {
            traceId = span.trace.traceID.description
            spanId = span.trace.spanHexadecimal
            parentSpanId = span.parent?.spanHexadecimal
            traceState = span.trace.state.isEmpty ? nil : span.trace.state
            // `SpanFlags`: the W3C flags in the lowest byte, then whether it is known and whether the parent is remote.
            flags = (span.trace.isSampled ? 1 : 0) | 0x100 | (span.parent?.isRemote == true ? 0x200 : 0)
            name = Attribute.limited(span.name)
            kind = span.kind.code
            startTimeUnixNano = "\(span.startedAt)"
            endTimeUnixNano = "\(span.endedAt)"
            var attributes: [Attribute] = []
            span.attributes.forEach { attributes.append(Attribute($0, $1)) }
            self.attributes = attributes
            status = Status(code: span.hasFailed ? 2 : nil)
        }
    }
}

extension SpanKind {
    /// The value of `SpanKind` in OTLP.
    fileprivate var code: Int {
        switch self {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}

extension Limits {
    /// Bytes of a name or value in a span: hosts and error codes are shorter.
    static let spanTextBytesMax = 1_024
}
