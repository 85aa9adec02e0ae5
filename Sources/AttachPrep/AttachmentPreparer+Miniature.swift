import Glibc
import MediaEngine
public import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension AttachmentPreparer {
    /// A smaller picture of one that was prepared, for people to look at.
    ///
    /// - Parameters:
    ///   - path: a JPEG or PNG of ours.
    ///   - sidePixels: how long its longer side may be; nothing is enlarged.
    /// - Returns: the picture's type and its bytes.
    /// - Throws: `source.not_found`, and what the media engine throws.
    public func miniature(ofFile path: String, sidePixels: Int) async throws -> (type: AttachmentType, bytes: [UInt8]) {
        let format: MediaFormat = path.hasSuffix(".png") ? .png : .jpeg
        var request = RenderRequest(format: format, picture: .still)
        request.thumbnail = ThumbnailRendition(width: sidePixels, height: sidePixels, fit: .contain)
        let source = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw AttachPrepError(.sourceNotFound, "The picture is not there any more.") }
        defer { close(source) }
        let staging = try StagingFolder(output: output)
        defer { staging.discard() }
        let made = try staging.createNameless()
        defer { close(made) }
        let (asked, deadline) = (request, ContinuousClock.now + .seconds(Limits.budgetSeconds))
        let rendered = try await engine.inTurn(.render) { engine in
            try await engine.render(asked, source: source, outputs: [made], deadline: deadline)
        }
        guard let picture = rendered.thumbnail else {
            throw AttachPrepError(.internal, "The media process wrote no picture.")
        }
        return (picture.type, try Self.bytes(of: made, count: picture.bytes))
    }

    private static func bytes(of descriptor: CInt, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress?.advanced(by: done), count - done, off_t(done))
            }
            guard read > 0 else { throw AttachPrepError(.internal, "A picture that was written cannot be read.") }
            done += read
        }
        return bytes
    }
}
