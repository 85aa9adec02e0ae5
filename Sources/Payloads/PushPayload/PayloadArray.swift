import AttachPrepModel
public import MediaTypes

/// A JSON array of payloads, such as the messages of one request to Expo's push API.
public struct PayloadArray: Sendable, Hashable {
    public let bytes: [UInt8]
    /// The byte range of each message, an object.
    public let messages: [Range<Int>]

    /// Parses an array; nil when the text does not begin with `[`.
    ///
    /// Throws `payload.invalid` unless it is a JSON array of objects, and `payload.too_large` over its limits.
    public init?(_ bytes: [UInt8]) throws(PayloadError) {
        guard bytes.first(where: { !JSONParser.isWhitespace($0) }) == UInt8(ascii: "[") else { return nil }
        guard bytes.count <= Limits.payloadArrayBytesMax else {
            throw PayloadError(
                .payloadTooLarge,
                "The array of payloads is \(bytes.count.grouped) bytes, over the limit of "
                    + "\(Limits.payloadArrayBytesMax.grouped); split it.")
        }
        let text = try JSONText(bytes)
        guard case .array(let elements) = text.top.content else { return nil }
        guard elements.count <= Limits.payloadArrayMessagesMax else {
            throw PayloadError(
                .payloadTooLarge,
                "The array has \(elements.count.grouped) payloads, over the limit of "
                    + "\(Limits.payloadArrayMessagesMax.grouped); split it.")
        }
        for element in elements {
            guard case .object = element.content else {
                throw text.syntaxError(
                    "has \(element.noun) among its payloads", at: element.range.lowerBound, "write objects only")
            }
        }
        self.bytes = bytes
        messages = elements.map(\.range)
    }

    /// Returns the array with its messages replaced, in order; all other bytes stay unchanged.
    public func replacing(messages new: [[UInt8]]) -> [UInt8] {
        var result: [UInt8] = []
        var end = 0
        for (range, message) in zip(messages, new) {
            result += bytes[end..<range.lowerBound] + message
            end = range.upperBound
        }
        return result + bytes[end...]
    }
}

extension Limits {
    /// Messages of one array: Expo's API accepts 100 in a request, Firebase's Admin SDKs 500.
    static let payloadArrayMessagesMax = 500
    /// Bytes of an array: 100 messages of 4 KiB, and their indentation.
    package static let payloadArrayBytesMax = 1_000_000
}
