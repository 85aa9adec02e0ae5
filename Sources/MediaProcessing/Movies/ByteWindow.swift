import Glibc
package import RichPush
import SafeArithmetic

/// A file of any length seen through one window, for walks over its boxes, chunks, blocks and frames.
///
/// Reads with `pread`, so the descriptor's own offset stays; checks the deadline at each read. Reading past the end
/// throws `media.corrupt`: every walk asks only for what the file itself declared.
package final class ByteWindow {
    /// An exabyte, more than any disk holds: what is added to a place in a file stays a number.
    private static let sizeMax = 1 << 60

    /// Bytes of the file, at most `sizeMax`.
    package let size: Int

    private let noun: String
    private let descriptor: CInt
    private let deadline: ContinuousClock.Instant
    private let arrival: Arrival?
    private var start = 0
    private var window: [UInt8] = []

    /// - Parameters:
    ///   - descriptor: Borrowed: the caller keeps it open.
    ///   - noun: What the file is, for the sentence of the error: `movie`, `GIF`.
    package convenience init(descriptor: CInt, noun: String, deadline: ContinuousClock.Instant) throws {
        try self.init(descriptor: descriptor, noun: noun, arrival: nil, deadline: deadline)
    }

    /// - Parameter arrival: Where the file is still written to; reads wait for what is asked and not there yet.
    init(descriptor: CInt, noun: String, arrival: Arrival?, deadline: ContinuousClock.Instant) throws {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw AttachPrepError(.internal, "The file cannot be read.", detail: "fstat: errno \(errno)")
        }
        size = max(0, min(arrival?.total ?? Int(clamping: status.st_size), Self.sizeMax))
        self.arrival = arrival
        self.descriptor = descriptor
        self.noun = noun
        self.deadline = deadline
    }

    /// Bytes that are in memory already.
    package init(bytes: [UInt8], noun: String) {
        size = bytes.count
        window = bytes
        descriptor = -1
        arrival = nil
        self.noun = noun
        deadline = .now + .seconds(3600)
    }

    /// What is thrown for a file that ends too early.
    package var cut: AttachPrepError {
        AttachPrepError(.mediaCorrupt, "The \(noun) ends in the middle; send the whole file.")
    }

    /// What is thrown for a file that contradicts its own format.
    package func broken(_ detail: String) -> AttachPrepError {
        AttachPrepError(.mediaCorrupt, "The \(noun) is damaged; send an intact file.", detail: detail)
    }

    // Bounded throughout: `offset` lies in the file, and in the window before anything is taken from it.
    package func byte(at offset: Int) throws -> UInt8 {
        guard offset >= 0, offset < size else { throw cut }
        // Bounded throughout: both offsets lie in the file.
        if offset < start || offset - start >= window.count { try move(to: offset, needing: 1) }
        guard offset - start < window.count else { throw cut }
        return window[offset - start]
    }

    /// The bytes there, fewer at the end of the file.
    ///
    /// - Throws: `media.corrupt` for a run that is longer than the window, which only a number in the file can ask for;
    ///   what may be longer is read with `all(in:)`.
    // Bounded throughout: `offset` lies in the file, and `count` is that of a window at most.
    package func bytes(at offset: Int, count: Int) throws -> ArraySlice<UInt8> {
        guard count <= Limits.walkWindowBytes else { throw broken("a run of \(count) bytes at \(offset)") }
        guard count >= 0, (0...size).contains(offset) else { throw cut }
        // Bounded throughout: both offsets lie in the file, and the count in a window.
        if offset == size { return [] }
        if offset < start || offset - start + count > window.count { try move(to: offset, needing: count) }
        let index = offset - start
        guard index < window.count else { return [] }
        return window[index..<min(index + count, window.count)]
    }

    /// The bytes there, all of them.
    package func whole(at offset: Int, count: Int) throws -> ArraySlice<UInt8> {
        let found = try bytes(at: offset, count: count)
        if found.count < count { throw cut }
        return found
    }

    /// The bytes of a place that was found to lie in the file, as long as it is.
    package func all(in place: Range<Int>) throws -> [UInt8] {
        guard place.lowerBound >= 0, place.upperBound <= size else { throw cut }
        if descriptor < 0 { return Array(window[place]) }
        let found = try read(place.count, at: place.lowerBound, needing: place.count)
        if found.count < place.count { throw cut }
        return found
    }

    /// - Parameter count: At most eight; of eight, the first bit is the sign.
    // Bounded throughout: bits that leave a number at its top are dropped.
    package func bigEndian(at offset: Int, bytes count: Int) throws -> Int {
        try whole(at: offset, count: count).reduce(0) { $0 << 8 | Int($1) }
    }

    /// - Parameter count: At most eight; of eight, the last one's first bit is the sign.
    // Bounded throughout: bits that leave a number at its top are dropped.
    package func littleEndian(at offset: Int, bytes count: Int) throws -> Int {
        try whole(at: offset, count: count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Characters of ISO 8859-1, as four-character codes are written.
    package func characters(at offset: Int, count: Int) throws -> String {
        String(String.UnicodeScalarView(try bytes(at: offset, count: count).map { Unicode.Scalar($0) }))
    }

    // Bounded throughout: `offset` lies in the file, as who asks has looked.
    private func move(to offset: Int, needing count: Int) throws {
        if descriptor < 0 { return }
        if ContinuousClock.now >= deadline {
            throw AttachPrepError(.deadlineExceeded, "The time for the request ran out while the file was checked.")
        }
        start = offset
        window = try read(min(Limits.walkWindowBytes, size - start), at: start, needing: min(count, size - start))
    }

    /// As much as there is, and what is needed of it if that is still to come.
    // Bounded throughout: a part of the file; no more than `count` bytes are read.
    private func read(_ count: Int, at offset: Int, needing needed: Int) throws -> [UInt8] {
        var failure: CInt = 0
        // Bounded throughout: `pread` gives no more than it was asked for, and the run lies in the file.
        let found = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = unsafe pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, offset + filled)
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got == 0, filled < needed, arrival?.waitForMore() == true { continue }
                if got <= 0 { return }
                filled += got
            }
        }
        if failure != 0 {
            throw AttachPrepError(.internal, "The file cannot be read.", detail: "pread: errno \(failure)")
        }
        return found
    }
}
