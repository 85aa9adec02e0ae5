import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// What others on the machine can see of files that are being made (issue 18). Serialized: the umask is the process's.
@Suite(.serialized) struct StagingFolderTests {
    private func withUmask<Result>(_ mask: mode_t, _ body: () throws -> Result) rethrows -> Result {
        let before = umask(mask)
        defer { umask(before) }
        return try body()
    }

    private func rights(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test(arguments: [mode_t(0), 0o022, 0o077])
    func `Until it is published nobody else can enter it, whatever the umask`(mask: mode_t) throws {
        let folder = try TemporaryFolder()
        try withUmask(mask) {
            let staging = try StagingFolder(output: folder.path("out"))
            #expect(try rights(staging.path) == 0o700)
            close(try staging.create("source"))
            #expect(try rights("\(staging.path)/source") == 0o600)
            try staging.copy("source", to: "copy")
            #expect(try rights("\(staging.path)/copy").map { $0 & 0o077 } == 0)
        }
    }

    @Test(arguments: [(mode_t(0o022), 0o755, 0o644), (0o027, 0o750, 0o640), (0o077, 0o700, 0o600), (0, 0o755, 0o644)])
    func `What is published has the rights of a new file, for the web server`(mask: mode_t, folder: Int, file: Int)
        throws
    {
        let output = try TemporaryFolder()
        try withUmask(mask) {
            let staging = try StagingFolder(output: output.path)
            close(try staging.create("attachment.jpg"))
            try staging.publish(as: "cat")
            staging.discard()
        }
        #expect(try rights(output.path("cat")) == folder)
        #expect(try rights(output.path("cat/attachment.jpg")) == file)
    }

    @Test func `A sweep leaves what a link leads to`() throws {
        let (output, other) = (try TemporaryFolder(), try TemporaryFolder())
        try other.write("dear", to: "kept")
        try FileManager.default.createSymbolicLink(
            atPath: output.path(".attachprep-\(UUID().uuidString)"), withDestinationPath: other.path)
        StagingFolder.sweep(output: output.path)
        #expect(try other.contents() == ["kept"])
    }

    @Test(arguments: [mode_t(0), 0o022])
    func `A state folder is made for its owner alone, with those above it`(mask: mode_t) throws {
        let folder = try TemporaryFolder()
        try withUmask(mask) { try PrivateFolder.make(folder.path("a/b/state"), holding: []) }
        for path in ["a", "a/b", "a/b/state"] { #expect(try rights(folder.path(path)) == 0o700) }
    }

    @Test func `A state folder that is open to others is closed, with what is in it`() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("state/quarantine")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path("state"))
        try PrivateFolder.make(folder.path("state"), holding: ["quarantine"])
        #expect(try rights(folder.path("state")) == 0o700)
    }

    @Test func `A folder with files of others, or for everybody's, stays as it is`() throws {
        let folder = try TemporaryFolder()
        for (name, mode) in [("home", 0o755), ("tmp", 0o1777)] {
            try folder.makeFolder(name)
            if name == "home" { try folder.write("", to: "home/letter") }
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
            try PrivateFolder.make(folder.path(name), holding: ["quarantine"])
            #expect(try rights(folder.path(name)) == mode)
        }
    }
}
