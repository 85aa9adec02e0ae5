#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
public import RichPush

extension Manifest {
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
}
