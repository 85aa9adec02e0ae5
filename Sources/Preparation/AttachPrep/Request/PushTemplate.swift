public import AttachPrepModel
import FoundationEssentials
import MediaTypes
import PushPayload

/// The APNs payload of a request, into which the files of its result are written.
public struct PushTemplate: Codable, Sendable, Hashable {
    private let value: JSONValue

    /// - Throws: `payload.invalid` for anything but an object with an object `aps`, `payload.too_large`.
    public init(from decoder: any Decoder) throws {
        value = try JSONValue(from: decoder)
        guard case .object(let members) = value, case .object? = members["aps"] else {
            throw AttachPrepError(.payloadInvalid, "\"payload\" must be an APNs payload: an object with \"aps\".")
        }
        let bytes = try text().count
        guard bytes <= Limits.payloadBytesMax else {
            throw AttachPrepError(
                .payloadTooLarge,
                "\"payload\" has \(bytes.grouped) bytes, over the APNs limit of \(Limits.payloadBytesMax.grouped); "
                    + "shorten texts or remove keys.")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
    }

    /// Returns the payload to send, with `mutable-content` and with the files of the manifest in the object
    /// `attachprep`.
    ///
    /// - Throws: `payload.too_large`.
    public func payload(with manifest: Manifest) throws -> PushTemplate {
        let written = try AttachPrepError.converting {
            try PayloadWriter.add(manifest, to: PayloadDocument(text()))
        }
        return try ForeignJSON.decode(PushTemplate.self, from: written.bytes)
    }

    private func text() throws -> [UInt8] { Array(try JSONEncoder.singleLine.encode(value)) }
}

/// Any JSON value. Numbers keep their value, not their notation.
private indirect enum JSONValue: Codable, Sendable, Hashable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case whole(Int64)
    case number(Double)
    case bool(Bool)
    case null

    init(from decoder: any Decoder) throws {
        let one = try decoder.singleValueContainer()
        if one.decodeNil() {
            self = .null
        } else if let value = try? one.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? one.decode(Int64.self) {
            self = .whole(value)
        } else if let value = try? one.decode(Double.self) {
            self = .number(value)
        } else if let value = try? one.decode(String.self) {
            self = .string(value)
        } else if let value = try? one.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try one.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var one = encoder.singleValueContainer()
        switch self {
        case .object(let value): try one.encode(value)
        case .array(let value): try one.encode(value)
        case .string(let value): try one.encode(value)
        case .whole(let value): try one.encode(value)
        case .number(let value): try one.encode(value)
        case .bool(let value): try one.encode(value)
        case .null: try one.encodeNil()
        }
    }
}
