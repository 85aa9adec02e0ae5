import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The folder in which results are made before they are stored.
enum WorkFolder {
    /// Removes what an earlier process left: whoever holds the data folder's lock is alone.
    ///
    /// - Throws: `output.not_writable`.
    static func clear(_ path: String) throws {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
        do {
            for name in names { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
        } catch {
            throw AttachPrepError(
                .outputNotWritable,
                "The folder \(path) holds something that cannot be removed; look at its permissions.",
                detail: "\(error)")
        }
    }
}
