package import AttachPrepModel
import Glibc
import Linux
import MediaEngine
package import MediaTypes
import SafeArithmetic

/// A file of any length read through one buffer, for parsers of boxes, chunks, blocks and frames.
///
/// Reads with `pread`, so the descriptor's offset does not change, and checks the deadline at each read. A read past
/// the end throws `media.corrupt`: parsers read only what the file declares.
package final class ByteWindow {
    /// Maximum file size: one exabyte, so that sums of offsets cannot overflow.
    private static let sizeMax = 1 << 60

    /// File size in bytes, at most `sizeMax`.
    package let size: Int

    private let noun: String
    private let descriptor: CInt
    private let deadline: ContinuousClock.Instant
    private let download: DownloadingFile?
    private var start = 0
    private var window: [UInt8] = []

    /// - Parameters:
    ///   - descriptor: Borrowed: the caller keeps it open.
    ///   - noun: The kind of file for error messages, such as `movie` or `GIF`.
    package convenience init(descriptor: CInt, noun: String, deadline: ContinuousClock.Instant) throws {
        try self.init(descriptor: descriptor, noun: noun, download: nil, deadline: deadline)
    }

    /// - Parameter download: Set while the file is still being written; reads wait for missing bytes.
    init(descriptor: CInt, noun: String, download: DownloadingFile?, deadline: ContinuousClock.Instant) throws {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw AttachPrepError(.internal, "The file cannot be read.", detail: "fstat: errno \(errno)")
        }
        size = max(0, min(download?.total ?? Int(clamping: status.st_size), Self.sizeMax))
        self.download = download
        self.descriptor = descriptor
        self.noun = noun
        self.deadline = deadline
    }

    /// A window on bytes in memory.
    package init(bytes: [UInt8], noun: String) {
        size = bytes.count
        window = bytes
        descriptor = -1
        download = nil
        self.noun = noun
        deadline = .now + .seconds(3600)
    }

    /// The error for a file that ends too early.
    package var cut: AttachPrepError {
        AttachPrepError(.mediaCorrupt, "The \(noun) is truncated; send the complete file.")
    }

    /// The error for a file that violates its format.
    package func broken(_ detail: String) -> AttachPrepError {
        AttachPrepError(.mediaCorrupt, "The \(noun) is damaged; send an intact file.", detail: detail)
    }

    package func byte(at offset: Int) throws -> UInt8 {
        guard offset >= 0, offset < size else { throw cut }
        // Bounded throughout: both offsets lie in the file.
        if offset < start || offset - start >= window.count { try move(to: offset, needing: 1) }
        guard offset - start < window.count else { throw cut }
        return window[offset - start]
    }

    /// The bytes at an offset; fewer at the end of the file.
    ///
    /// - Throws: `media.corrupt` for more bytes than the window holds, which only a number in the file can request;
    ///   read longer ranges with `all(in:)`.
    package func bytes(at offset: Int, count: Int) throws -> ArraySlice<UInt8> {
        guard count <= Limits.parseWindowBytes else { throw broken("a run of \(count) bytes at \(offset)") }
        guard count >= 0, (0...size).contains(offset) else { throw cut }
        // Bounded throughout: both offsets lie in the file, and the count in a window.
        if offset == size { return [] }
        if offset < start || offset - start + count > window.count { try move(to: offset, needing: count) }
        let index = offset - start
        guard index < window.count else { return [] }
        return window[index..<min(index + count, window.count)]
    }

    /// The bytes at an offset; throws if the file ends before `count`.
    package func whole(at offset: Int, count: Int) throws -> ArraySlice<UInt8> {
        let found = try bytes(at: offset, count: count)
        if found.count < count { throw cut }
        return found
    }

    /// All bytes of a range, which must lie in the file.
    package func all(in range: Range<Int>) throws -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= size else { throw cut }
        if descriptor < 0 { return Array(window[range]) }
        let found = try read(range.count, at: range.lowerBound, needing: range.count)
        if found.count < range.count { throw cut }
        return found
    }

    /// - Parameter count: At most eight; with eight, the first bit is the sign.
    // Bounded throughout: bits that leave a number at its top are dropped.
    package func bigEndian(at offset: Int, bytes count: Int) throws -> Int {
        try whole(at: offset, count: count).reduce(0) { $0 << 8 | Int($1) }
    }

    /// - Parameter count: At most eight; with eight, the last byte's first bit is the sign.
    // Bounded throughout: bits that leave a number at its top are dropped.
    package func littleEndian(at offset: Int, bytes count: Int) throws -> Int {
        try whole(at: offset, count: count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Characters of ISO 8859-1, as in four-character codes.
    package func characters(at offset: Int, count: Int) throws -> String {
        String(String.UnicodeScalarView(try bytes(at: offset, count: count).map { Unicode.Scalar($0) }))
    }

    // Bounded throughout: `offset` lies in the file; callers check it.
    private func move(to offset: Int, needing count: Int) throws {
        if descriptor < 0 { return }
        if ContinuousClock.now >= deadline {
            throw AttachPrepError(.deadlineExceeded, "The time for the request ran out while the file was checked.")
        }
        start = offset
        window = try read(min(Limits.parseWindowBytes, size - start), at: start, needing: min(count, size - start))
    }

    /// Reads up to `count` bytes, and waits for at least `needed` of them while the file is downloading.
    // Bounded throughout: a part of the file; no more than `count` bytes are read.
    private func read(_ count: Int, at offset: Int, needing needed: Int) throws -> [UInt8] {
        do {
            var found = try FileIO.bytes(descriptor, at: offset, count: count)
            while found.count < needed, download?.waitForMore() == true {
                found += try FileIO.bytes(descriptor, at: offset + found.count, count: count - found.count)
            }
            return found
        } catch {
            throw AttachPrepError(.internal, "The file cannot be read.", detail: "pread: errno \(error.code)")
        }
    }
}

/// A file that is still being written: its reader waits at the end for more bytes or for completion.
final class DownloadingFile {
    /// Descriptor of the download signals; borrowed.
    private let signals: CInt
    /// Expected size in bytes; nil where it is not needed.
    let total: Int?
    private var isComplete = false

    init(signals: CInt, total: Int? = nil) {
        self.signals = signals
        self.total = total
    }

    /// Waits for more bytes; returns false if there will be no more.
    func waitForMore() -> Bool {
        if isComplete { return false }
        var bytes = [UInt8](repeating: 0, count: 512)
        var count = -1
        repeat { count = unsafe read(signals, &bytes, bytes.count) } while count < 0 && errno == EINTR
        // The writer is gone: the available bytes are treated as the whole file, which is then found to be truncated.
        guard count > 0 else {
            isComplete = true
            return false
        }
        isComplete = bytes[..<count].contains(DownloadSignal.complete.rawValue)
        return true
    }
}

extension Limits {
    /// Bytes of a file in memory at a time while its blocks, boxes, chunks or frames are walked.
    package static let parseWindowBytes = 65_536
}
