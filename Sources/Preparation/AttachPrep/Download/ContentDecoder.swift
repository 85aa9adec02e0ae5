internal import AttachPrepModel
internal import MediaTypes
internal import SafeArithmetic
internal import Zlib

/// The decoding that a response's `Content-Encoding` requires.
///
/// libcurl's own decoding is off because it checks no limits while it decompresses.
enum ContentCoding: Sendable, Hashable {
    /// The bytes are the file. Also used for names that do not compress, such as `utf-8`.
    case none
    case gzip
    case deflate
    /// Several codings, or an unsupported one. Requests send `Accept-Encoding: identity`.
    case rejected

    init(_ head: ResponseHead) {
        let names = head.contentCodings
        guard names.count <= 1 else {
            self = .rejected
            return
        }
        self =
            switch names.first {
            case "gzip", "x-gzip": .gzip
            case "deflate": .deflate
            case "br", "zstd", "compress", "x-compress", "dcb", "dcz": .rejected
            default: .none
            }
    }
}

/// Decompresses one body as it is received, in steps of at most 64 KiB of output, so that size and time can be
/// checked after each.
///
/// A gzip body may have several members, which form one file (RFC 1952, 2.2). Any other bytes after the end of the
/// stream make the body invalid.
// Sendable because only the curl thread uses it during the transfer, and other threads read it only afterwards.
@safe final class ContentDecoder: @unchecked Sendable {
    /// Output of one zlib step: the most that is decompressed between two checks of the limits.
    private static let stepBytes = 65_536
    /// The most consecutive input bytes without output. A gzip header's name and comment have no length limit, and
    /// empty members can be repeated without end. Real headers have some 100 bytes.
    private static let bytesWithoutOutputMax = 65_536

    private let coding: ContentCoding
    private var inflater: Inflater?
    /// The first two bytes of `deflate`, which show whether the data has a zlib header: servers send both forms.
    private var first: [UInt8] = []
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: stepBytes, alignment: 16)
    private var bytesWithoutOutput = 0
    /// Decompressed bytes so far.
    private(set) var bytesUnpacked = 0
    private var isAtEnd = false
    private var hasBegun = false

    init(_ coding: ContentCoding) {
        self.coding = coding
    }

    deinit { unsafe output.deallocate() }

    /// Whether the stream has ended; true for an empty body as well.
    var isComplete: Bool { isAtEnd || !hasBegun }

    /// Decompresses a piece.
    ///
    /// - Parameter use: Receives the output of each step, at most 64 KiB; empty when a step produced none. An error it
    ///   throws stops the decoding.
    /// - Returns: False when the bytes do not match the coding.
    /// - Throws: `download.content_coding` when too many bytes produce no output, `internal` when zlib does not start,
    ///   and what `use` throws.
    func decode(
        _ piece: UnsafeRawBufferPointer, host: String,
        use: (UnsafeRawBufferPointer) throws(AttachPrepError) -> Void
    ) throws(AttachPrepError) -> Bool {
        guard unsafe !piece.isEmpty else { return true }
        hasBegun = true
        guard coding == .deflate, inflater == nil else { return try unsafe unpack(piece, host: host, use) }
        unsafe first.append(contentsOf: piece)
        guard first.count >= 2 else { return true }
        let start = first
        first = []
        let wrapping: Inflater.Wrapping = Self.isZlibHeader(start) ? .zlib : .none
        guard let inflater = try? Inflater(wrapping) else { throw .internalFailure("zlib does not start") }
        self.inflater = inflater
        let result = unsafe start.withUnsafeBytes { bytes in
            Result { () throws(AttachPrepError) in try unsafe unpack(bytes, host: host, use) }
        }
        return try result.get()
    }

    private func unpack(
        _ piece: UnsafeRawBufferPointer, host: String,
        _ use: (UnsafeRawBufferPointer) throws(AttachPrepError) -> Void
    ) throws(AttachPrepError) -> Bool {
        var rest = unsafe piece[...]
        while true {
            guard let step = try unsafe step(UnsafeRawBufferPointer(rebasing: rest)) else { return false }
            unsafe rest = rest.dropFirst(step.bytesRead)
            bytesWithoutOutput = step.bytesWritten > 0 ? 0 : bytesWithoutOutput.adding(clamping: step.bytesRead)
            bytesUnpacked = bytesUnpacked.adding(clamping: step.bytesWritten)
            guard bytesWithoutOutput <= Self.bytesWithoutOutputMax else { throw .decompressionWithoutOutput(host) }
            try unsafe use(UnsafeRawBufferPointer(rebasing: output[..<step.bytesWritten]))
            isAtEnd = step.isAtEnd
            guard step.bytesRead > 0 || step.bytesWritten > 0 || isAtEnd else { return unsafe rest.isEmpty }
            if unsafe rest.isEmpty, isAtEnd || step.bytesWritten < Self.stepBytes { return true }
        }
    }

    /// Runs one zlib step; nil when the bytes are invalid.
    private func step(_ input: UnsafeRawBufferPointer) throws(AttachPrepError) -> Inflater.Step? {
        // Bytes after the end of a stream are another gzip member, or invalid.
        if isAtEnd, unsafe !input.isEmpty {
            guard coding == .gzip, unsafe input.first == 0x1f, (try? inflater?.restart()) != nil else { return nil }
        }
        if inflater == nil { inflater = try? Inflater(.gzip) }
        guard let inflater else { throw .internalFailure("zlib does not start") }
        return unsafe try? inflater.step(input, into: output)
    }

    /// RFC 1950, 2.2: compression method 8, a window size of at most 7, and a header checksum divisible by 31.
    private static func isZlibHeader(_ bytes: [UInt8]) -> Bool {
        let (method, flags) = (bytes[0], bytes[1])
        // Bounded: two bytes in 16 bits.
        return method & 0x0f == 8 && method >> 4 <= 7 && (UInt16(method) << 8 | UInt16(flags)) % 31 == 0
    }
}
