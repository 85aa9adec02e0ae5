import AttachPrep
import Glibc
import RichPush

/// An open file, read and written on a thread that may block.
final class BlockingFile: Sendable {
    let path: String
    private let descriptor: CInt
    private let lane: BlockingLane

    /// Opens it; blocking.
    ///
    /// - Parameter flags: those of open(2); a file that is made is for its owner alone.
    /// - Throws: `output.not_writable`, `output.no_space`.
    init(path: String, _ flags: CInt, on lane: BlockingLane) throws {
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFault.file(errno) }
        self.path = path
        self.descriptor = descriptor
        self.lane = lane
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Exactly so many bytes from that place on.
    func read(_ count: Int, at offset: Int) async throws -> [UInt8] {
        try await lane.run { [self] in
            var bytes = [UInt8](repeating: 0, count: count)
            var done = 0
            while done < count {
                let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe pread(
                        // Bounded: at most the bytes of a file.
                        descriptor, buffer.baseAddress.map { unsafe $0 + done }, count - done, off_t(offset + done))
                }
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { throw StoreFault.file(got < 0 ? errno : EIO) }
                done += got  // Bounded: at most the bytes of a file.
            }
            return bytes
        }
    }

    /// Writes them all.
    func write(_ bytes: [UInt8], at offset: Int) async throws {
        try await lane.run { [self] in
            var done = 0
            while done < bytes.count {
                let put = unsafe bytes.withUnsafeBytes { buffer in
                    unsafe pwrite(
                        // Bounded: at most the bytes of a file.
                        descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done,
                        off_t(offset + done))  // Bounded: at most the bytes of a file.
                }
                if put < 0, errno == EINTR { continue }
                guard put > 0 else { throw StoreFault.file(put < 0 ? errno : EIO) }
                done += put  // Bounded: at most the bytes of a file.
            }
        }
    }
}
