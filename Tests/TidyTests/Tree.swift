import Foundation
import TestSupport

/// The files of the project: what git tracks, and what it would track with the next `git add`.
struct Tree {
    /// Paths from the project's folder.
    let paths: [String]
    /// Those that are text.
    let texts: [TextFile]

    /// Git's list; in an unpacked archive, every file but what building makes.
    init() throws {
        // "safe.directory" because continuous integration may check out as another user.
        let git = try? RunCommand(
            "git",
            [
                "-c", "safe.directory=*", "-C", SourceTree.root.path, "ls-files", "-z", "--cached", "--others",
                "--exclude-standard",
            ]
        ).runBlocking()
        let listed: [String]
        if let git, git.exitCode == 0 {
            listed = git.text.split(separator: "\0").map(String.init)
        } else {
            listed = try FileManager.default.subpathsOfDirectory(atPath: SourceTree.root.path)
                .filter { !$0.hasPrefix(".build") && !$0.hasPrefix(".git/") && !$0.hasPrefix("prepared/") }
        }
        var isFolder: ObjCBool = false
        paths = listed.filter {
            let path = SourceTree.path($0)
            // A symbolic link is another file of the project (Packages/RichPush).
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
                && (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == nil
        }
        texts = paths.compactMap { path in
            guard !path.hasPrefix("samples/media/"),
                let data = FileManager.default.contents(atPath: SourceTree.path(path)),
                !data.prefix(8192).contains(0), let text = String(data: data, encoding: .utf8)
            else { return nil }
            return TextFile(path, text)
        }
    }

    static func bytes(of path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: SourceTree.path(path))
        return (attributes[.size] as? Int) ?? 0
    }
}
