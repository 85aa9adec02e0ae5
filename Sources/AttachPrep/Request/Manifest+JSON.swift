public import AttachPrepModel
package import FoundationEssentials
import RichPush

extension JSONEncoder {
    /// Encodes one line with sorted keys and unescaped slashes.
    package static var singleLine: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    package func text(_ value: some Encodable) throws -> String {
        String(decoding: try encode(value), as: UTF8.self)
    }
}

extension Manifest {
    /// The file name of the manifest in a result's folder.
    public static let fileName = "manifest.json"

    /// One line of JSON, keys in alphabetical order.
    ///
    /// - Throws: What `JSONEncoder` throws; every value of a manifest can be encoded.
    public func json() throws -> String.UTF8View {
        try JSONEncoder.singleLine.text(self).utf8
    }

    /// Decodes a manifest.
    ///
    /// - Throws: What `JSONDecoder` throws.
    public init(json: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(Manifest.self, from: Data(json))
    }
}
