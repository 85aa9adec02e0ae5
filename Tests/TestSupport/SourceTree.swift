import Foundation

/// The project's folder, found from this file's path.
public enum SourceTree {
    public static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The path of a file or folder in it.
    public static func path(_ relative: String) -> String { root.appendingPathComponent(relative).path }

    /// The path of a file in `samples/media`.
    public static func sample(_ name: String) -> String { path("samples/media/\(name)") }
}

/// The products of this build, which are in the folder of the test bundle.
///
/// Tests run the same binaries as users.
public enum BuiltBinary {
    /// The path of `attachprep`.
    public static func attachprep() throws -> String { try path(of: "attachprep") }

    /// The path of `attachprep-media`.
    public static func attachprepMedia() throws -> String { try path(of: "attachprep-media") }

    /// The path of the media process that executes commands from its source files.
    public static func hostileMedia() throws -> String { try path(of: "HostileMedia") }

    /// The path of the sample client of the service.
    public static func sampleClient() throws -> String { try path(of: "SampleClient") }

    /// The path of the server that shapes its connections like mobile networks.
    public static func shapingServer() throws -> String { try path(of: "ShapingServer") }

    /// The folder of the test bundle: `.build/<platform>/debug`.
    public static var folder: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    private static func path(of name: String) throws -> String {
        let path = folder.appendingPathComponent(name).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw CommandError(description: "\(path) does not exist; build it with `swift build --build-tests`")
        }
        return path
    }
}
