internal import CDeflate
internal import SafeArithmetic

/// Compresses whole buffers in zlib's format. Owns libdeflate's compressor.
///
/// A compressor is used by one thread at a time; it needs some 0.5 MB.
///
/// C: `libdeflate_zlib_compress` of libdeflate.
@safe package final class Compressor {
    private let compressor: OpaquePointer

    /// - Parameter level: 0 (stored) to 12; 6 compresses like zlib's 6.
    /// - Throws: When the level is invalid, or memory ran out.
    package init(level: Int) throws(DeflateError) {
        guard let compressor = unsafe libdeflate_alloc_compressor(CInt(clamping: level)) else {
            throw DeflateError("alloc_compressor")
        }
        unsafe self.compressor = compressor
    }

    deinit { unsafe libdeflate_free_compressor(compressor) }

    /// The compressed bytes, in zlib's format (RFC 1950).
    package func zlib(_ bytes: [UInt8]) throws(DeflateError) -> [UInt8] {
        let bound = unsafe libdeflate_zlib_compress_bound(compressor, bytes.count)
        let compressed = unsafe [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            unsafe count = bytes.withUnsafeBytes { input in
                unsafe libdeflate_zlib_compress(
                    compressor, input.baseAddress, input.count, output.baseAddress, output.count)
            }
        }
        // 0 means that the output does not fit, which the bound excludes.
        guard !compressed.isEmpty else { throw DeflateError("zlib_compress") }
        return compressed
    }
}

/// CRC-32 as in gzip, ZIP and PNG.
///
/// C: `libdeflate_crc32` of libdeflate.
package enum CRC32 {
    /// - Parameter preceding: The checksum of the bytes before these; 0 when they are the first.
    package static func checksum(_ bytes: ArraySlice<UInt8>, after preceding: UInt32 = 0) -> UInt32 {
        unsafe bytes.withUnsafeBytes { unsafe libdeflate_crc32(preceding, $0.baseAddress, $0.count) }
    }
}

/// The error of a libdeflate call; for the log only.
package struct DeflateError: Error, Sendable, Hashable, CustomStringConvertible {
    package let operation: String

    init(_ operation: StaticString) { self.operation = "\(operation)" }

    package var description: String { "libdeflate: \(operation)" }
}
