import Foundation

/// An empty temporary folder, removed with its contents when the last reference is released.
///
/// ```swift
/// let folder = try TemporaryFolder()
/// try folder.write("not an image", to: "image.jpg")
/// #expect(try folder.contents() == ["image.jpg"])
/// ```
public final class TemporaryFolder: Sendable {
    public let url: URL

    public var path: String { url.path }

    /// - Parameter parent: The system's temporary folder unless a test needs a certain file system.
    public init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("attachprep-test-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A test may have made it read-only; the system cleans up what cannot be removed.
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: url.path)
        try? FileManager.default.removeItem(at: url)
    }

    /// The path of a name inside the folder, whether or not it exists.
    public func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Writes a file and returns its path.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: url.appendingPathComponent(name))
        return path(name)
    }

    /// Writes a text file and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }

    /// Makes a folder inside and returns its path.
    @discardableResult
    public func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(
            at: url.appendingPathComponent(name, isDirectory: true), withIntermediateDirectories: true)
        return path(name)
    }

    public func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appendingPathComponent(name)))
    }

    /// Everything inside, hidden files and sub-folders' contents included, as sorted relative paths.
    ///
    /// `contents().isEmpty` verifies that no file is left behind.
    public func contents() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: url.path).sorted()
    }
}
