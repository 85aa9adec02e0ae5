import Foundation

/// The project's folder, found from this file's place in it.
public enum SourceTree {
    public static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The path of something in it.
    public static func path(_ relative: String) -> String { root.appendingPathComponent(relative).path }

    /// The path of one of `samples/media`.
    public static func sample(_ name: String) -> String { path("samples/media/\(name)") }
}
