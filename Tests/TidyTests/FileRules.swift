/// What may be in the tree at all.
enum FileRules {
    static let bytesMax = 1 << 20
    /// Swift files in a folder of Sources: a reader finds the one meant among some 25 names.
    static let folderFilesMax = 26
    /// All of `samples/media`, which everyone clones.
    static let samplesBytesMax = 2_000_000

    static func generated(_ path: String) -> [Finding] {
        let components = path.split(separator: "/")
        if components.last == "Package.resolved" {
            return [Finding(path, nil, "tracked; remove it, the manifest's lower bounds are the contract")]
        }
        if components.contains(where: { $0 == ".build" || $0.hasPrefix(".build-") || $0.hasPrefix(".build_") }) {
            return [Finding(path, nil, "made by building; remove it from git")]
        }
        return []
    }

    static func size(_ path: String, bytes: Int) -> [Finding] {
        guard bytes > bytesMax else { return [] }
        return [Finding(path, nil, "\(bytes) bytes; make it in a script or smaller, \(bytesMax) are allowed")]
    }
    /// Folders of Sources with too many files.
    static func folders(_ paths: [String]) -> [Finding] {
        let files = paths.filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") }
        let folders = Dictionary(grouping: files) { $0.split(separator: "/").dropLast().joined(separator: "/") }
        return folders.filter { $0.value.count > folderFilesMax }.map {
            Finding($0.key, nil, "\($0.value.count) files; make a folder for some, \(folderFilesMax) are allowed")
        }
    }

    /// Samples that are too large together.
    static func samples(bytes: Int) -> [Finding] {
        guard bytes > samplesBytesMax else { return [] }
        return [Finding("samples/media", nil, "\(bytes) bytes; make one smaller, \(samplesBytesMax) are allowed")]
    }
}
