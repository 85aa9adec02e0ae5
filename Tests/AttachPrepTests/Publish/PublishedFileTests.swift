import AttachPrepModel
import Foundation
import Logging
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

struct PublishedFileTests {
    private static let digest = "1160ab42" + String(repeating: "c", count: 56)
    private let file = PublishedFile(name: "attachment.jpg", sha256: Self.digest)

    @Test func `The path has 32 digits of the digest, and the suggested name has 8`() {
        #expect(file.contentPath == "_content/1160ab42cccccccccccccccccccccccc.jpg")
        #expect(file.suggestedName == "attachment-1160ab42.jpg")
    }

    @Test func `A suggested name is parsed, and other names are not`() throws {
        let parsed = try #require(PublishedFile.parse(suggestedName: "attachment-1160ab42.jpg"))
        #expect(parsed.name == "attachment.jpg" && parsed.digits == "1160ab42")
        for name in ["attachment.jpg", "attachment-1160.jpg", "attachment-1160ab42", "-.", ""] {
            #expect(PublishedFile.parse(suggestedName: name) == nil)
        }
    }

    @Test func `No result has the name of the folder of files by content`() {
        #expect(!AttachmentRequest.isValid(id: PublishedFile.contentFolder))
    }

    @Test func `The layout of a result is recognized by its URL`() {
        var manifest = Manifest(
            id: "cat", requestDigest: "d", outcome: .passed, source: ManifestSource(url: "http://x/"))
        manifest.attachment = ManifestFile(file: file.name, type: .jpeg, bytes: 1, sha256: file.sha256)
        #expect(manifest.layout == .id)
        manifest.attachment?.url = "https://media.example/cat/attachment.jpg"
        #expect(manifest.layout == .id)
        manifest.attachment?.url = "https://media.example/\(file.contentPath)"
        #expect(manifest.layout == .content)
    }
}

struct PublishedContentTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Publishes one file by its content and returns it with its inode.
    private func publish(_ text: String, as id: String) throws -> (file: PublishedFile, path: String, inode: Int?) {
        let staging = try StagingFolder(output: folder.path)
        try Data(text.utf8).write(to: URL(filePath: "\(staging.path)/attachment.jpg"))
        let file = PublishedFile(name: "attachment.jpg", sha256: UploadDigest.sha256(of: Array(text.utf8)))
        try staging.publishContent([file])
        let manifest = Manifest(id: id, requestDigest: "d", outcome: .passed, source: ManifestSource(url: "http://x/"))
        try staging.write(manifest)
        try staging.publish(as: id)
        return (file, folder.path(file.contentPath), try inode("\(id)/attachment.jpg"))
    }

    private func inode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.path(path))[.systemFileNumber] as? Int
    }

    @Test func `A file is in the folder of its result and under its content`() throws {
        let published = try publish("meow", as: "cat")
        #expect(try inode(published.file.contentPath) == published.inode)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("_content")).count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("cat")).count == 2)
    }

    @Test func `An equal file of another result is shared, and its time is renewed`() throws {
        let first = try publish("meow", as: "cat")
        let past = Date(timeIntervalSince1970: 1_000_000)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: first.path)
        let second = try publish("meow", as: "dog")
        #expect(second.inode == first.inode)
        let date = try FileManager.default.attributesOfItem(atPath: first.path)[.modificationDate] as? Date
        #expect(try #require(date) > past)
    }

    @Test func `A damaged file under a digest is replaced`() throws {
        let first = try publish("meow", as: "cat")
        try Data("moo!".utf8).write(to: URL(filePath: first.path))
        let second = try publish("meow", as: "dog")
        #expect(second.inode != first.inode)
        #expect(try String(contentsOfFile: second.path, encoding: .utf8) == "meow")
    }

    @Test func `A replaced result leaves the file of the earlier one`() throws {
        let first = try publish("meow", as: "cat")
        let second = try publish("purr", as: "cat")
        #expect(first.path != second.path)
        #expect(try String(contentsOfFile: first.path, encoding: .utf8) == "meow")
    }
}
