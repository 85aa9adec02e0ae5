import AttachPrepModel
import Glibc
import MediaEngine
import MediaTypes
import SafeArithmetic

/// A source on disk, with what the server declared.
struct FetchedSource: Sendable {
    private let file: OwnedDescriptor
    let bytes: Int
    /// Lowercase hexadecimal.
    let sha256: String
    /// Nil for a file, like what the server declared.
    let finalURL: String?
    let declaredMIMEType: String?
    let timings: ManifestTimings
    /// The result of identification.
    let identified: IdentifiedMedia
    /// Freshness information from the response headers; nil for a file.
    let freshness: SourceFreshness?

    init(
        file: OwnedDescriptor, bytes: Int, sha256: String, finalURL: String? = nil, declaredMIMEType: String? = nil,
        timings: ManifestTimings, identified: IdentifiedMedia, freshness: SourceFreshness? = nil
    ) {
        self.file = file
        self.bytes = bytes
        self.sha256 = sha256
        self.finalURL = finalURL
        self.declaredMIMEType = declaredMIMEType
        self.timings = timings
        self.identified = identified
        self.freshness = freshness
    }

    /// Open for reading only.
    var descriptor: CInt { file.descriptor }
}

/// The file in the staging folder that receives the source.
struct SourceFile: Sendable {
    static let name = "source"

    let writable: OwnedDescriptor
    /// Read-only: media processes receive this descriptor and must not be able to change the source.
    let readable: OwnedDescriptor

    init(in staging: StagingFolder, name: String = SourceFile.name) throws {
        writable = OwnedDescriptor(descriptor: try staging.create(name))
        readable = OwnedDescriptor(descriptor: try staging.open(name))
    }
}

/// How large a source of a known format may be, and the error when it is larger. Pure.
struct SourceSizeLimit: Sendable, Hashable {
    let bytesMax: Int
    let error: AttachPrepError

    init(format: MediaFormat, request: AttachmentRequest) {
        let limit = request.bytesMax(for: format.kind)
        // An attachable source that must not be shrunk is useless above the limit for its attachment.
        if format.attachmentType != nil, request.oversize == .reject {
            bytesMax = limit
            error = AttachPrepError(
                .limitExceeded,
                "The \(format.kind.rawValue) is over its limit of \(limit.grouped) bytes; allow shrinking "
                    + "(oversize: shrink) or send a smaller file.")
        } else {
            bytesMax = Limits.sourceBytesMax(format.kind)
            error = Self.tooLarge(bytesMax)
        }
    }

    /// The error for a source over the limit for all sources.
    static func tooLarge(_ bytesMax: Int) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "The source is over the limit of \(bytesMax.grouped) bytes; send a smaller file.")
    }
}
