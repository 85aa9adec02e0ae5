import Glibc
import MediaEngine
public import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What pages about results want of their files. Files are read on threads that may block.
extension AttachmentPreparer {
    /// A file's bytes in base64; nil when it cannot be read.
    public func base64(ofFile path: String) async -> String? {
        try? await rooms.blocking.run { FileManager.default.contents(atPath: path)?.base64EncodedString() }
    }

    /// A smaller picture of one that was prepared, for people to look at.
    ///
    /// - Parameters:
    ///   - path: a JPEG or PNG of ours.
    ///   - sidePixels: how long its longer side may be; nothing is enlarged.
    /// - Returns: the picture's type and its bytes.
    /// - Throws: `source.not_found`, and what the media engine throws.
    public func miniature(ofFile path: String, sidePixels: Int) async throws -> (type: AttachmentType, bytes: [UInt8]) {
        let folder = output
        let files = try await rooms.blocking.run { try MiniatureFiles(source: path, output: folder) }
        var request = RenderRequest(format: path.hasSuffix(".png") ? .png : .jpeg, picture: .still)
        request.thumbnail = ThumbnailRendition(width: sidePixels, height: sidePixels, fit: .contain)
        let (asked, deadline) = (request, ContinuousClock.now + .seconds(Limits.budgetSeconds))
        let rendered = try await rooms.engine.inTurn(.render) { engine in
            try await engine.render(asked, source: files.source, outputs: [files.made], deadline: deadline)
        }
        guard let picture = rendered.thumbnail else {
            throw AttachPrepError(.internal, "The media process wrote no picture.")
        }
        return (picture.type, try await rooms.blocking.run { try files.bytes(count: picture.bytes) })
    }
}

/// A picture to read and a nameless file to write to, closed when nobody holds them.
private final class MiniatureFiles: Sendable {
    let source: CInt
    let made: CInt
    private let staging: StagingFolder

    init(source path: String, output: String) throws {
        staging = try StagingFolder(output: output)
        made = try staging.createNameless()
        source = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else {
            close(made)
            throw AttachPrepError(.sourceNotFound, "The picture is not there any more.")
        }
    }

    deinit {
        close(source)
        close(made)
    }

    func bytes(count: Int) throws -> [UInt8] {
        // The child says how much it wrote.
        guard 0...Limits.imageBytesMax ~= count else {
            throw AttachPrepError(.internal, "A picture that was written has no length that it can have.")
        }
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(made, buffer.baseAddress?.advanced(by: done), count - done, off_t(done))
            }
            guard read > 0 else { throw AttachPrepError(.internal, "A picture that was written cannot be read.") }
            done += read
        }
        return bytes
    }
}
