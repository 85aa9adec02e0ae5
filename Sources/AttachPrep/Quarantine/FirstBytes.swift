import Crypto
import Glibc
import RichPush
import SafeArithmetic

/// The beginnings of a file that identification looks at, as digests.
///
/// Lengths are fixed: the same file has the same beginnings, however its bytes arrive.
enum FirstBytes {
    private static let lengths = [Limits.identifyBytesFirst, Limits.identifyBytesLast]

    /// How many of the bytes that are there are looked at: no more than the next of the lengths, unless it is all.
    static func length(available: Int, isComplete: Bool) -> Int {
        if isComplete { return min(available, Limits.identifyBytesLast) }
        return lengths.last { $0 <= available } ?? available
    }

    /// The digests of all beginnings that a look at this file may be taken over.
    static func digests(of descriptor: CInt) -> [String] {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return [] }
        return Set(lengths.map { min($0, Int(clamping: status.st_size)) }).sorted().compactMap {
            digest(of: descriptor, length: $0)
        }
    }

    /// Nil when so much is not there.
    static func digest(of descriptor: CInt, length: Int) -> String? {
        var bytes = [UInt8](repeating: 0, count: length)
        var done = 0
        while done < length {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                // Bounded: `done` is at most `length`.
                unsafe pread(descriptor, buffer.baseAddress.map { unsafe $0 + done }, length - done, off_t(done))
            }
            guard count > 0 else { return nil }
            done += count  // Bounded: by `length`.
        }
        return SHA256.hash(data: bytes).hexadecimal
    }
}
