import Glibc

/// The bytes of a scan as its code wants them: without the zeros that are stuffed behind 0xFF, up to the next marker.
///
/// Source: ITU-T T.81, B.1.1.5.
struct ScanBytes {
    /// What follows the bytes at hand.
    enum Continuation {
        /// More of them.
        case bytes
        /// This marker.
        case marker(UInt8)
        /// Nothing: the file ends here.
        case end
    }

    /// Bytes of the file read at a time.
    private static let rawBytes = 131_072
    /// More than the largest unit of a scan takes, whose blocks are at most ten: nobody looks for the end within it.
    static let reserveBytes = 4096
    /// Zeros behind the last byte, which the decoder may look at but not use.
    private static let padding = [UInt8](repeating: 0, count: reserveBytes)

    private let descriptor: CInt
    private let waitForMore: () -> Bool
    private var offset: Int
    private var raw: [UInt8] = []
    private var place = 0
    /// The bytes at hand, and zeros behind them.
    private(set) var bytes: [UInt8] = []
    /// How many of them are the scan's.
    private(set) var count = 0
    private(set) var continuation = Continuation.bytes

    /// - Parameter offset: Where the scan begins in the file.
    init(descriptor: CInt, offset: Int, waitForMore: @escaping () -> Bool) {
        self.waitForMore = waitForMore
        self.descriptor = descriptor
        self.offset = offset
    }

    // Bounded throughout: places lie in `raw`, which holds two pieces at most, and `bytes` few more; `offset` is where
    // the file was read to.

    /// Leaves out what was used, and brings the bytes at hand to more than the reserve, unless a marker comes first.
    mutating func advance(past used: Int) {
        bytes.removeLast(bytes.count - count)
        bytes.removeFirst(used)
        while bytes.count < Self.rawBytes, case .bytes = continuation { unstuff() }
        count = bytes.count
        bytes += Self.padding
    }

    /// Goes on behind a restart marker.
    mutating func restart() {
        continuation = .bytes
        count = 0
        bytes.removeAll(keepingCapacity: true)
        advance(past: 0)
    }

    /// Takes over what is raw, as far as the next marker.
    private mutating func unstuff() {
        guard place < raw.count || read() else { return }
        while place < raw.count {
            let mark = nextMark()
            bytes += raw[place..<mark]
            place = mark
            guard mark < raw.count else { return }
            // What stands behind it decides, and may not have been read yet.
            if mark + 1 == raw.count, !read() { return }
            switch raw[place + 1] {
            case 0:
                bytes.append(0xFF)
                place += 2
            // Any number of them may fill up the space before a marker.
            case 0xFF: place += 1
            case let marker:
                place += 2
                continuation = .marker(marker)
                return
            }
        }
    }

    private func nextMark() -> Int {
        unsafe raw.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, let found = unsafe memchr(base + place, 0xFF, buffer.count - place)
            else { return buffer.count }
            return unsafe found - UnsafeMutableRawPointer(mutating: base)
        }
    }

    /// Reads on; what was not taken over yet stays in front. False at the end of the file.
    private mutating func read() -> Bool {
        raw.removeFirst(place)
        place = 0
        let kept = raw.count
        var piece = readPiece()
        while piece.isEmpty, waitForMore() { piece = readPiece() }
        offset += piece.count
        raw = kept == 0 ? piece : raw + piece
        if piece.isEmpty { continuation = .end }
        return !piece.isEmpty
    }

    private func readPiece() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Self.rawBytes) { buffer, filled in
            var got = -1
            repeat {
                got = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            } while got < 0
                && errno == EINTR
            filled = max(0, got)
        }
    }
}
