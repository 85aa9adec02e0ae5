import Glibc
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file of a result on its way into the store.
struct ResultFile: Sendable, Hashable {
    var name: String
    var mimeType: String
    var bytes: Int
    var sha256: String

    /// Those that a manifest names.
    static func all(of manifest: Manifest) -> [ResultFile] {
        var files: [ResultFile] = []
        if let file = manifest.attachment {
            files.append(.init(name: file.file, mimeType: file.mimeType, bytes: file.bytes, sha256: file.sha256))
        }
        for file in [manifest.thumbnail, manifest.crop].compactMap(\.self) {
            files.append(.init(name: file.file, mimeType: file.mimeType, bytes: file.bytes, sha256: file.sha256))
        }
        return files
    }
}

extension ContentFiles {
    /// Moves files to their places. The caller holds them, and lets go of them when their rows are there.
    func place(_ files: [ResultFile], from source: String) async throws {
        try await sync(files.map { "\(source)/\($0.name)" })
        try await run {
            for file in files { try self.place(file, from: source) }
            // The manifest beside them is a row now.
            try? FileManager.default.removeItem(atPath: source)
        }
        try await sync(Set(files.map { "\(folder.content)/\($0.sha256.prefix(2))" }).sorted() + [folder.content])
    }

    private func place(_ file: ResultFile, from source: String) throws {
        let (new, final) = ("\(source)/\(file.name)", path(file.sha256))
        guard Self.size(new) == file.bytes else {
            throw AttachPrepError(
                .outputNotWritable, "A prepared file is not as its manifest says; try again.",
                detail: "\(file.name): \(Self.size(new) ?? -1) bytes instead of \(file.bytes)", isRetryable: true)
        }
        // The same content is there already, unless a power cut took what was in it.
        if Self.size(final) == file.bytes { return }
        if unsafe rename(new, final) == 0 { return }
        guard errno == ENOENT else { throw StoreFault.file(errno) }
        guard unsafe mkdir("\(folder.content)/\(file.sha256.prefix(2))", 0o700) == 0 || errno == EEXIST,
            unsafe rename(new, final) == 0
        else { throw StoreFault.file(errno) }
    }
}
