internal import RichPush
internal import Tracing

/// Encodes spans as an OTLP export request in JSON.
///
/// Written by hand, because JSONEncoder takes ten times as long, which is noticeable beside the work of a small image.
///
/// <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>
package struct OTLPEncoder: Sendable {
    /// The part of each request that describes the process.
    private let resource: [UInt8]
    private let scope: [UInt8]

    /// - Parameters:
    ///   - resource: attributes of the process, such as `service.name`.
    ///   - version: the version of attachprep.
    package init(resource: [(key: String, value: String)], version: String) {
        var json = JSONBytes()
        json.list(resource) { json, attribute in json.attribute(attribute.key, .string(attribute.value)) }
        self.resource = json.bytes
        json = JSONBytes()
        json.raw("{\"name\":\"attachprep\",\"version\":")
        json.text(version)
        json.raw("}")
        scope = json.bytes
    }

    // Bounded throughout: array concatenation.
    package func request(_ spans: [FinishedSpan]) -> [UInt8] {
        var json = JSONBytes()
        json.raw("{\"resourceSpans\":[{\"resource\":{\"attributes\":")
        json.bytes += resource
        json.raw("},\"scopeSpans\":[{\"scope\":")
        json.bytes += scope
        json.raw(",\"spans\":")
        json.list(spans) { json, span in json.span(span) }
        json.raw("}]}]}")
        return json.bytes
    }
}

/// JSON under construction.
// Bounded throughout: array concatenation, digits of a byte, and wider integers.
private struct JSONBytes {
    var bytes: [UInt8] = []

    mutating func raw(_ text: String) { bytes += text.utf8 }

    mutating func list<Element>(_ elements: [Element], _ add: (inout JSONBytes, Element) -> Void) {
        raw("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { raw(",") }
            add(&self, element)
        }
        raw("]")
    }

    mutating func text(_ text: String) {
        raw("\"")
        let isLong = text.utf8.count > Limits.spanTextBytesMax
        // A scalar has at most four bytes.
        let text = isLong ? String(text.unicodeScalars.prefix(Limits.spanTextBytesMax / 4)) : text
        bytes += JSONEscaping.inside(text.utf8, escapingSlashes: false)
        raw("\"")
    }

    mutating func attribute(_ key: String, _ value: SpanAttribute) {
        raw("{\"key\":")
        text(key)
        raw(",\"value\":{")
        switch value {
        case .bool(let value): if value { raw("\"boolValue\":true") } else { raw("\"boolValue\":false") }
        case .int32(let value): integer(Int64(value))
        case .int64(let value): integer(value)
        case .double(let value) where value.isFinite:
            raw("\"doubleValue\":")
            bytes += "\(value)".utf8
        case .string(let value):
            raw("\"stringValue\":")
            text(value)
        case .stringConvertible(let value):
            raw("\"stringValue\":")
            text("\(value)")
        default:
            // attachprep records no lists.
            raw("\"stringValue\":\"\"")
        }
        raw("}}")
    }

    /// 64-bit integers are strings in the JSON of Protocol Buffers.
    private mutating func integer(_ value: Int64) {
        raw("\"intValue\":\"")
        bytes += "\(value)".utf8
        raw("\"")
    }

    mutating func span(_ span: FinishedSpan) {
        raw("{\"traceId\":\"")
        bytes += span.trace.traceID.description.utf8
        raw("\",\"spanId\":\"")
        bytes += span.trace.spanHexadecimal.utf8
        if let parent = span.parent {
            raw("\",\"parentSpanId\":\"")
            bytes += parent.spanHexadecimal.utf8
        }
        raw("\"")
        if !span.trace.state.isEmpty {
            raw(",\"traceState\":")
            text(span.trace.state)
        }
        raw(",\"flags\":")
        bytes += "\(Self.flags(span))".utf8
        raw(",\"name\":")
        text(span.name)
        raw(",\"kind\":")
        bytes += "\(span.kind.code)".utf8
        raw(",\"startTimeUnixNano\":\"")
        bytes += "\(span.startedAt)".utf8
        raw("\",\"endTimeUnixNano\":\"")
        bytes += "\(span.endedAt)".utf8
        raw("\",\"attributes\":")
        var attributes: [(key: String, value: SpanAttribute)] = []
        span.attributes.forEach { attributes.append(($0, $1)) }
        list(attributes) { json, attribute in json.attribute(attribute.key, attribute.value) }
        if span.hasFailed { raw(",\"status\":{\"code\":2}}") } else { raw(",\"status\":{}}") }
    }

    /// `SpanFlags`: the W3C flags in the lowest byte, then whether it is known, and whether the parent is remote.
    private static func flags(_ span: FinishedSpan) -> Int {
        (span.trace.isSampled ? 1 : 0) | 0x100 | (span.parent?.isRemote == true ? 0x200 : 0)
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
