import Foundation
import Glibc
import TestSupport
import Testing

@testable import AttachPrepJobs

/// Folders that are removed with their process, or by the next process if it was killed.
@Suite struct TemporaryDataFolderTests {
    private let parent: TemporaryFolder
    /// The name of a folder as a process creates it.
    private static let abandoned = "attachprep-\(UUID().uuidString)"

    init() throws {
        parent = try TemporaryFolder()
    }

    private func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: parent.path))
    }

    @Test func `The folder of a killed process is removed by the next process`() throws {
        let left = try parent.makeFolder(Self.abandoned)
        try Data("bytes".utf8).write(to: URL(fileURLWithPath: "\(left)/mirror.sqlite"))
        let folder = try TemporaryDataFolder(in: parent.path)
        #expect(try names() == [URL(fileURLWithPath: folder.path).lastPathComponent])
    }

    @Test func `The folder of a running process is kept`() throws {
        let first = try TemporaryDataFolder(in: parent.path)
        let second = try TemporaryDataFolder(in: parent.path)
        #expect(try names().count == 2)
        first.remove()
        second.remove()
        #expect(try names().isEmpty)
    }

    @Test(arguments: [
        "attachprep", "attachprep-", "attachprep-12345", "attachprep-test-\(UUID().uuidString)", UUID().uuidString,
    ])
    func `Folders with other names are kept`(_ name: String) throws {
        try parent.makeFolder(name)
        TemporaryDataFolder.sweep(parent.path)
        #expect(try names() == [name])
    }

    @Test func `A symbolic link to another folder is not followed`() throws {
        let other = try parent.makeFolder("precious")
        #expect(unsafe symlink(other, parent.path(Self.abandoned)) == 0)
        TemporaryDataFolder.sweep(parent.path)
        #expect(try names() == ["precious", Self.abandoned])
    }
}
