import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PayloadResult {
    /// One line of JSON: `payload` as it was written, byte for byte, then `manifests` and `warnings`.
    ///
    /// - Throws: what `JSONEncoder` throws; a result holds no value that JSON cannot.
    public func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let rest = try encoder.encode(Rest(manifests: manifests, warnings: warnings))
        return Array(#"{"payload":"#.utf8) + payload + Array(",".utf8) + rest.dropFirst()
    }

    private struct Rest: Encodable {
        var manifests: [Manifest]
        var warnings: [PayloadWarning]
    }
}
