import AttachPrepModel
import NIOCore
import NIOPosix
import RichPush
import SafeArithmetic

/// An open file, closed on deinit; blocking operations run on NIO's thread pool.
final class AsyncFile: Sendable {
    private let handle: NIOFileHandle
    private static let files = NonBlockingFileIO(threadPool: .singleton)

    private init(_ handle: NIOFileHandle) {
        self.handle = handle
    }

    deinit {
        // An error of close is harmless: written bytes were counted, and the store syncs the file.
        try? handle.close()
    }

    static func forReading(path: String) async throws -> AsyncFile {
        AsyncFile(try await open(path: path, mode: .read))
    }

    static func forWriting(path: String) async throws -> AsyncFile {
        AsyncFile(try await open(path: path, mode: .write))
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

enum BlockingThreadPool {
    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await NIOThreadPool.singleton.runIfActive(work)
    }
}
