/// What may be in the tree at all.
enum FileRules {
    static let bytesMax = 1 << 20

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
}
