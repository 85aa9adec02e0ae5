import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

@Suite struct UploadFolderTests {
    private static let start = Date(timeIntervalSince1970: 1_795_294_262)

    private let folder: TemporaryFolder
    private let uploads: UploadCache

    init() throws {
        folder = try TemporaryFolder()
        uploads = try UploadCache(path: folder.path)
    }

    /// A copy of nothing.
    private func copy() async throws -> MediaID {
        let begun = try await uploads.begin(.make())
        try await uploads.store(begun.path, as: begun.id, at: Self.start)
        return begun.id
    }

    @Test func `a copy goes when nobody has used it for an hour`() async throws {
        let id = try await copy()
        #expect(try await uploads.refreshCopy(id, bytes: 0, at: Self.start + 3_000))
        #expect(try await uploads.sweep(at: Self.start + 3_000 + Limits.uploadCopySecondsMax - 1).isEmpty)
        #expect(try await uploads.sweep(at: Self.start + 3_000 + Limits.uploadCopySecondsMax).map(\.name) == [id.text])
        #expect(try folder.contents() == ["uploads"])
    }

    @Test func `what is being written is not swept`() async throws {
        let begun = try await uploads.begin(.make())
        #expect(try await uploads.sweep(at: .distantFuture).isEmpty)
        #expect(FileManager.default.fileExists(atPath: begun.path))
    }

    @Test func `a copy that is not as long as it has to be is none`() async throws {
        let id = try await copy()
        #expect(try await !uploads.refreshCopy(id, bytes: 1, at: Self.start))
    }

    @Test func `files are for their owner alone`() async throws {
        let begun = try await uploads.begin(.make())
        for (path, rights) in [(folder.path("uploads"), 0o700), (begun.path, 0o600)] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == rights)
        }
    }

    @Test func `what an earlier process left is gone at the next start`() async throws {
        _ = try await copy()
        _ = try await uploads.begin(.make())
        _ = try UploadCache(path: folder.path)
        #expect(try folder.contents() == ["uploads"])
    }
}
