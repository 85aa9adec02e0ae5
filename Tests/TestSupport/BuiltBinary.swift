import Foundation

/// The products of this build, which stand beside the test bundle.
///
/// The tests run what a user runs: the binaries themselves.
public enum BuiltBinary {
    /// The path of `attachprep`.
    public static func attachprep() throws -> String { try path(of: "attachprep") }

    /// The path of `attachprep-media`.
    public static func attachprepMedia() throws -> String { try path(of: "attachprep-media") }

    /// The path of the media child that does what files tell it.
    public static func hostileMedia() throws -> String { try path(of: "HostileMedia") }

    /// The path of the sample that calls the service.
    public static func sampleClient() throws -> String { try path(of: "SampleClient") }

    /// The path of the server behind which connections are phones'.
    public static func shapingServer() throws -> String { try path(of: "ShapingServer") }

    /// The folder of the test bundle: `.build/<platform>/debug`.
    public static var folder: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    private static func path(of name: String) throws -> String {
        let path = folder.appendingPathComponent(name).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw CommandFailure(description: "\(path) is not there; build it with `swift build --build-tests`")
        }
        return path
    }
}
