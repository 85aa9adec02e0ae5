import Foundation

/// The files of a folder, by the path of a URL.
public struct ServedFolder: Sendable {
    /// With every link followed.
    private let root: String

    /// - Returns: nil when there is no such folder.
    public init?(_ path: String) {
        let root = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: root)
        guard attributes?[.type] as? FileAttributeType == .typeDirectory else { return nil }
        self.root = root
    }

    /// The file that a request names; nil when there is none, or it lies elsewhere. Blocks.
    func file(at target: String) -> ServedFile? {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        guard path.hasPrefix("/"), let name = String(path).removingPercentEncoding, !name.utf8.contains(0),
            !name.split(separator: "/").contains("..")
        else { return nil }
        let file = URL(fileURLWithPath: root + name).resolvingSymlinksInPath().path
        return file.hasPrefix(root + "/") ? ServedFile(path: file) : nil
    }
}
