internal import CZlib
internal import SafeArithmetic

/// Unpacks a DEFLATE stream step by step; owns zlib's state.
///
/// A step reads no more than it is given and writes no more than there is room for, so that its caller can look at
/// sizes and time between two steps. C: `inflate` of zlib.
@safe package final class Inflater {
    /// What stands around the compressed data.
    package enum Wrapping: Sendable, Hashable {
        /// RFC 1952: a header with names and comments of any length, a checksum and a length.
        case gzip
        /// RFC 1950: two bytes before, a checksum behind.
        case zlib
        /// RFC 1951: nothing.
        case none

        /// `inflateInit2`'s number: the largest window, negative for bare data, 16 more for gzip alone.
        fileprivate var windowBits: CInt {
            switch self {
            case .gzip: MAX_WBITS + 16
            case .zlib: MAX_WBITS
            case .none: -MAX_WBITS
            }
        }
    }

    /// What one step did.
    package struct Step: Sendable, Hashable {
        package let bytesRead: Int
        package let bytesWritten: Int
        /// Whether the stream is over: its checksum has been read and was right.
        package let isAtEnd: Bool
    }

    // Memory of its own: zlib compares the address with the one it was given first.
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
        // Only a state that is not its own could fail.
        _ = unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Unpacks until the input is used up, the output is full, or the stream is over.
    ///
    /// - Throws: when the data is damaged, or never was what it is said to be.
    package func step(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ZlibError) -> Step {
        let (available, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
        let bytes = unsafe UnsafeMutableRawPointer(mutating: input.baseAddress)
        unsafe stream.pointee.next_in = bytes?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_in = available
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = room
        defer {
            unsafe stream.pointee.next_in = nil
            unsafe stream.pointee.next_out = nil
        }
        let code = unsafe inflate(stream, Z_NO_FLUSH)
        // Z_BUF_ERROR says that nothing could be done with so little input or room, which is no error.
        guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { throw ZlibError(code, "inflate") }
        return Step(
            // Bounded: 32 bits.
            bytesRead: Int(available.subtracting(clamping: unsafe stream.pointee.avail_in)),
            // Bounded: 32 bits.
            bytesWritten: Int(room.subtracting(clamping: unsafe stream.pointee.avail_out)),
            isAtEnd: code == Z_STREAM_END)
    }

    /// Begins another stream with the same wrapping.
    package func restart() throws(ZlibError) {
        let code = unsafe inflateReset(stream)
        guard code == Z_OK else { throw ZlibError(code, "inflateReset") }
    }
}

/// A zlib call that gave up, and its number for why: for the log only.
package struct ZlibError: Error, Sendable, Hashable, CustomStringConvertible {
    package let operation: String
    /// Such as Z_DATA_ERROR.
    package let code: CInt

    init(_ code: CInt, _ operation: StaticString) {
        self.operation = "\(operation)"
        self.code = code
    }

    package var description: String { "zlib \(code): \(operation)" }
}
