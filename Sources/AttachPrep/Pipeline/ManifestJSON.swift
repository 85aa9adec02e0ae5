public import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Manifest {
    /// The name of a result's manifest inside its folder.
    public static let fileName = "manifest.json"

    /// One line of JSON, keys in alphabetical order.
    ///
    /// - Throws: what `JSONEncoder` throws; a manifest holds no value that JSON cannot.
    public func json() throws -> String.UTF8View {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self).utf8
    }

    /// Reads a manifest back.
    ///
    /// - Throws: what `JSONDecoder` throws.
    public init(json: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(Manifest.self, from: Data(json))
    }

    /// The names of its files, the attachment's first.
    package var fileNames: [String] { [attachment?.file, thumbnail?.file, crop?.file].compactMap(\.self) }
}
