import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

/// Permissions of unfinished files and of data folders (issue 18). Serialized, since the umask is per process.
@Suite(.serialized) struct StagingFolderTests {
    private func withUmask<Result>(_ mask: mode_t, _ body: () throws -> Result) rethrows -> Result {
        let before = umask(mask)
        defer { umask(before) }
        return try body()
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test(arguments: [mode_t(0), 0o022, 0o077])
    func `An unpublished folder is private, whatever the umask`(mask: mode_t) throws {
        let folder = try TemporaryFolder()
        try withUmask(mask) {
            let staging = try StagingFolder(output: folder.path("out"))
            #expect(try permissions(staging.path) == 0o700)
            close(try staging.create("source"))
            #expect(try permissions("\(staging.path)/source") == 0o600)
            try staging.copy("source", to: "copy")
            #expect(try permissions("\(staging.path)/copy").map { $0 & 0o077 } == 0)
        }
    }

    @Test(arguments: [(mode_t(0o022), 0o755, 0o644), (0o027, 0o750, 0o640), (0o077, 0o700, 0o600), (0, 0o755, 0o644)])
    func `A published folder has the permissions of a new one, for the web server`(mask: mode_t, folder: Int, file: Int)
        throws
    {
        let output = try TemporaryFolder()
        try withUmask(mask) {
            let staging = try StagingFolder(output: output.path)
            close(try staging.create("attachment.jpg"))
            try staging.publish(as: "cat")
            staging.discard()
        }
        #expect(try permissions(output.path("cat")) == folder)
        #expect(try permissions(output.path("cat/attachment.jpg")) == file)
    }

    @Test func `A sweep does not follow links`() throws {
        let (output, other) = (try TemporaryFolder(), try TemporaryFolder())
        try other.write("dear", to: "kept")
        try FileManager.default.createSymbolicLink(
            atPath: output.path(".attachprep-\(UUID().uuidString)"), withDestinationPath: other.path)
        StagingFolder.sweep(output: output.path)
        #expect(try other.contents() == ["kept"])
    }

    @Test(arguments: [mode_t(0), 0o022])
    func `A data folder and its new parents are private`(mask: mode_t) throws {
        let folder = try TemporaryFolder()
        try withUmask(mask) { try PrivateFolder.make(folder.path("a/b/state"), holding: []) }
        for path in ["a", "a/b", "a/b/state"] { #expect(try permissions(folder.path(path)) == 0o700) }
    }

    @Test func `A data folder that is open to others is made private`() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("state/quarantine")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path("state"))
        try PrivateFolder.make(folder.path("state"), holding: ["quarantine"])
        #expect(try permissions(folder.path("state")) == 0o700)
    }

    @Test func `A folder with other files, or shared with everyone, is not changed`() throws {
        let folder = try TemporaryFolder()
        for (name, mode) in [("home", 0o755), ("tmp", 0o1777)] {
            try folder.makeFolder(name)
            if name == "home" { try folder.write("", to: "home/letter") }
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
            try PrivateFolder.make(folder.path(name), holding: ["quarantine"])
            #expect(try permissions(folder.path(name)) == mode)
        }
    }
}
