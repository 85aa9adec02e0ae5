import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The folder in which results are made before they are stored.
enum WorkFolder {
    /// Makes it, for this user alone, and removes what an earlier process left: whoever holds the data folder's lock is
    /// alone.
    ///
    /// - Throws: `output.not_writable`.
    static func clear(_ path: String) throws {
        do {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                try FileManager.default.removeItem(atPath: "\(path)/\(name)")
            }
            try PrivateFolder.make(path, holding: [])
        } catch {
            throw AttachPrepError(
                .outputNotWritable,
                "The folder \(path) holds something that cannot be removed; look at its permissions.",
                detail: "\(error)")
        }
    }
}
