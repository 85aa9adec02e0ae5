import NIOCore
import NIOPosix
import RichPush
import SafeArithmetic

/// A file that is open; closed with its last holder. What blocks is done by NIO's threads.
final class OpenFile: Sendable {
    private let handle: NIOFileHandle
    private static let files = NonBlockingFileIO(threadPool: .singleton)

    private init(_ handle: NIOFileHandle) {
        self.handle = handle
    }

    deinit {
        // Nothing is lost: what is written was counted, and made durable by its store.
        try? handle.close()
    }

    static func forReading(path: String) async throws -> OpenFile {
        OpenFile(try await open(path: path, mode: .read))
    }

    static func forWriting(path: String) async throws -> OpenFile {
        OpenFile(try await open(path: path, mode: .write))
    }

    private static func open(path: String, mode: NIOFileHandle.Mode) async throws -> NIOFileHandle {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        return try await files.openFile(_deprecatedPath: path, mode: mode, eventLoop: loop).get()
    }

    func write(_ piece: ByteBuffer) async throws {
        do {
            try await Self.files.write(fileHandle: handle, buffer: piece)
        } catch let error as IOError where [28, 122].contains(error.errnoCode) {
            // ENOSPC, EDQUOT.
            throw AttachPrepError(
                .outputNoSpace, "There is no room for the upload; come back later.", detail: "\(error)")
        } catch {
            throw AttachPrepError(.outputNotWritable, "The upload cannot be written here.", detail: "\(error)")
        }
    }

    /// What stands there next, at most so many bytes; never nothing.
    func piece(at offset: Int, before end: Int) async throws -> ByteBuffer {
        let piece = try await Self.files.read(
            fileHandle: handle, fromOffset: Int64(clamping: offset),
            byteCount: min(Self.pieceBytes, end.subtracting(clamping: offset)), allocator: ByteBufferAllocator())
        guard piece.readableBytes > 0 else { throw ChannelError.eof }
        return piece
    }

    /// What is in memory of a file at a time, for each connection.
    private static let pieceBytes = 32_768
}
