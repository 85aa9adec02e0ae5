import Foundation
import Linux
import TestSupport
import Testing

struct AtomicRenameTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("new")
        try folder.makeFolder("old")
        _ = try folder.write("new", to: "new/name")
        _ = try folder.write("old", to: "old/name")
    }

    private func content(_ path: String) throws -> String {
        String(decoding: try folder.bytes(of: path), as: UTF8.self)
    }

    @Test(arguments: [true, false]) func `A folder is renamed to a free name`(inOneStep: Bool) throws {
        let (from, to) = (folder.path("new"), folder.path("free"))
        let isRenamed =
            try inOneStep ? AtomicRename.renameToNew(from, final: to) : AtomicRename.renamePlainly(from, final: to)
        #expect(try isRenamed && content("free/name") == "new")
    }

    @Test(arguments: [true, false]) func `An existing name is not replaced`(inOneStep: Bool) throws {
        let (from, to) = (folder.path("new"), folder.path("old"))
        let isRenamed =
            try inOneStep ? AtomicRename.renameToNew(from, final: to) : AtomicRename.renamePlainly(from, final: to)
        #expect(try !isRenamed && content("old/name") == "old" && content("new/name") == "new")
    }

    @Test(arguments: [true, false]) func `Two folders are exchanged`(inOneStep: Bool) throws {
        let (one, other) = (folder.path("new"), folder.path("old"))
        try inOneStep ? AtomicRename.exchange(one, other) : AtomicRename.exchangeInSteps(one, other)
        #expect(try content("old/name") == "new" && content("new/name") == "old")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted() == ["new", "old"])
    }

    @Test func `A missing path cannot be renamed`() {
        #expect(throws: SystemError.self) { try AtomicRename.renameToNew(folder.path("none"), final: folder.path("x")) }
    }
}
