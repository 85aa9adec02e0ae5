internal import CZlib
internal import SafeArithmetic

/// Decompresses a DEFLATE stream in steps with zlib's `inflate`.
///
/// A step reads and writes no more than the given buffers, so that the caller can check size and time between steps.
@safe package final class Inflater {
    /// The format around the compressed data.
    package enum Wrapping: Sendable, Hashable {
        /// RFC 1952: a header with a name and comment of any length, and a checksum and length at the end.
        case gzip
        /// RFC 1950: a header of two bytes, and a checksum at the end.
        case zlib
        /// RFC 1951: raw DEFLATE data.
        case none

        /// The `windowBits` of `inflateInit2`: the largest window, negative for raw data, plus 16 for gzip only.
        fileprivate var windowBits: CInt {
            switch self {
            case .gzip: MAX_WBITS + 16
            case .zlib: MAX_WBITS
            case .none: -MAX_WBITS
            }
        }
    }

    /// The result of one step.
    package struct Step: Sendable, Hashable {
        package let bytesRead: Int
        package let bytesWritten: Int
        /// Whether the stream has ended with a valid checksum.
        package let isAtEnd: Bool
    }

    // Allocated, because zlib checks that the address stays the same.
    private let stream: UnsafeMutablePointer<z_stream>

    package init(_ wrapping: Wrapping) throws(ZlibError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe CZlib_inflateInit2(stream, wrapping.windowBits)
        guard code == Z_OK else {
            unsafe stream.deallocate()
            throw ZlibError(code, "inflateInit2")
        }
    }

    deinit {
        // This fails only for an invalid stream.
        _ = unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decompresses until the input is used up, the output is full, or the stream ends.
    ///
    /// - Throws: When the data is invalid.
    package func step(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ZlibError) -> Step {
        let (available, capacity) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
        let bytes = unsafe UnsafeMutableRawPointer(mutating: input.baseAddress)
        unsafe stream.pointee.next_in = bytes?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_in = available
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = capacity
        defer {
            unsafe stream.pointee.next_in = nil
            unsafe stream.pointee.next_out = nil
        }
        let code = unsafe inflate(stream, Z_NO_FLUSH)
        // Z_BUF_ERROR means that no progress was possible with this input and capacity, which is not an error.
        guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { throw ZlibError(code, "inflate") }
        return Step(
            // Bounded: 32 bits.
            bytesRead: Int(available.subtracting(clamping: unsafe stream.pointee.avail_in)),
            // Bounded: 32 bits.
            bytesWritten: Int(capacity.subtracting(clamping: unsafe stream.pointee.avail_out)),
            isAtEnd: code == Z_STREAM_END)
    }

    /// Resets the state for another stream with the same wrapping.
    package func restart() throws(ZlibError) {
        let code = unsafe inflateReset(stream)
        guard code == Z_OK else { throw ZlibError(code, "inflateReset") }
    }
}

/// The error of a zlib call; for the log only.
package struct ZlibError: Error, Sendable, Hashable, CustomStringConvertible {
    package let operation: String
    /// The zlib code, such as Z_DATA_ERROR.
    package let code: CInt

    init(_ code: CInt, _ operation: StaticString) {
        self.operation = "\(operation)"
        self.code = code
    }

    package var description: String { "zlib \(code): \(operation)" }
}
