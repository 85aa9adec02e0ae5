import AttachPrep
import Crypto
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOPosix
import RichPush
import SafeArithmetic

/// A file that an upload is written into as it comes; written by threads that may block, hashed on the way.
final class UploadFile {
    private(set) var bytes = 0
    private var hash = SHA256()
    private let handle: OpenFile

    init(path: String) async throws {
        do {
            handle = try await OpenFile.forWriting(path: path)
        } catch {
            throw AttachPrepError(.outputNotWritable, "The upload cannot be written here.", detail: "\(error)")
        }
    }

    /// Lower-case hexadecimal, of what was written.
    var sha256: String { hash.finalize().hexadecimal }

    /// Writes the whole body.
    ///
    /// - Throws: `request.too_large`, `request.invalid` for a body that came incomplete, `media.empty`.
    func write(_ body: RequestBytes) async throws {
        for try await piece in body.pieces() {
            bytes = bytes.adding(clamping: piece.readableBytes)
            guard bytes <= body.bytesMax else { throw RequestBytes.tooLarge(body.bytesMax) }
            hash.update(bufferPointer: piece)
            try await handle.write(piece)
        }
        if let declared = body.request.headers[.contentLength].flatMap({ Int($0) }), declared != bytes {
            throw AttachPrepError(.requestInvalid, "The body ended after \(bytes) of \(declared) bytes; send it again.")
        }
        guard bytes > 0 else { throw AttachPrepError(.mediaEmpty, "The upload has no bytes.") }
    }
}

extension SHA256 {
    fileprivate mutating func update(bufferPointer piece: ByteBuffer) {
        unsafe piece.withUnsafeReadableBytes { unsafe update(bufferPointer: $0) }
    }
}
