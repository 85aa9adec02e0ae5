import AttachPrepModel
import MediaTypes
import NIOCore
import NIOPosix
import SafeArithmetic

/// An open file, closed on deinit; blocking operations run on NIO's thread pool.
final class AsyncFile: Sendable {
    private let handle: NIOFileHandle
    private static let files = NonBlockingFileIO(threadPool: .singleton)

    init(_ path: String, _ mode: NIOFileHandle.Mode) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        handle = try await Self.files.openFile(_deprecatedPath: path, mode: mode, eventLoop: loop).get()
    }

    deinit {
        // An error of close is harmless: written bytes were counted, and the store syncs the file.
        try? handle.close()
    }

    func write(_ piece: ByteBuffer) async throws {
        do {
            try await Self.files.write(fileHandle: handle, buffer: piece)
        } catch let error as IOError where [28, 122].contains(error.errnoCode) {
            // ENOSPC, EDQUOT.
            throw AttachPrepError(
                .outputNoSpace, "No space left for the upload; retry later.", detail: "\(error)")
        } catch {
            throw AttachPrepError(.outputNotWritable, "The upload cannot be written to disk.", detail: "\(error)")
        }
    }

    /// The next bytes at an offset: at least 1, at most `pieceBytes`, none at or after `end`.
    func piece(at offset: Int, before end: Int) async throws -> ByteBuffer {
        let piece = try await Self.files.read(
            fileHandle: handle, fromOffset: Int64(clamping: offset),
            byteCount: min(Self.pieceBytes, end.subtracting(clamping: offset)), allocator: ByteBufferAllocator())
        guard piece.readableBytes > 0 else { throw ChannelError.eof }
        return piece
    }

    /// The bytes of a file in memory at a time, per connection.
    private static let pieceBytes = 32_768
}
