public import AttachPrepModel
import FoundationEssentials
import RichPush

extension Manifest {
    /// The file name of the manifest in a result's folder.
    public static let fileName = "manifest.json"

    /// One line of JSON, keys in alphabetical order.
    ///
    /// - Throws: What `JSONEncoder` throws; every value of a manifest can be encoded.
    public func json() throws -> String.UTF8View {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self).utf8
    }

    /// Decodes a manifest.
    ///
    /// - Throws: What `JSONDecoder` throws.
    public init(json: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(Manifest.self, from: Data(json))
    }
}
