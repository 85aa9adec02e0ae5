internal import RichPush
internal import SafeArithmetic
internal import Zlib

/// What the `Content-Encoding` of an answer asks of us. libcurl takes nothing off: it looks at no limit while it does.
enum ContentCoding: Sendable, Hashable {
    /// The bytes are the file. Also what is said of names that compress nothing, such as `utf-8` and `aws-chunked`.
    case none
    case gzip
    case deflate
    /// We ask for `identity`; who sends several codings, or one that we do not unpack, is refused.
    case refused

    init(_ head: ResponseHead) {
        let names = head.values("content-encoding").flatMap { $0.split(separator: ",") }
            .map { $0.filter { !$0.isWhitespace }.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
        guard names.count <= 1 else {
            self = .refused
            return
        }
        self =
            switch names.first {
            case "gzip", "x-gzip": .gzip
            case "deflate": .deflate
            case "br", "zstd", "compress", "x-compress", "dcb", "dcz": .refused
            default: .none
            }
    }
}

/// Unpacks one body as it arrives, and looks at size and time after every 64 KiB of work.
///
/// A gzip body may have several members, which are one file (RFC 1952, 2.2). Anything else behind the end means that
/// the body is not what its coding says.
// Sendable because it is worked with on the curl thread alone, and asked by others when the transfer is over.
@safe final class ContentDecoder: @unchecked Sendable {
    /// Written by one step of zlib: what is unpacked between two looks at the limits.
    private static let stepBytes = 65_536
    /// Bytes in a row from which nothing came: a gzip header's name and comment have no end of their own, and empty
    /// members can be repeated. Real headers have some hundred bytes.
    private static let bytesWithoutOutputMax = 65_536

    private let coding: ContentCoding
    private var inflater: Inflater?
    /// The first bytes of `deflate`, until they tell whether zlib's header stands before the data: servers send both.
    private var first: [UInt8] = []
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: stepBytes, alignment: 16)
    private var bytesWithoutOutput = 0
    /// Bytes that came of all pieces so far.
    private(set) var bytesUnpacked = 0
    private var isAtEnd = false
    private var hasBegun = false

    init(_ coding: ContentCoding) {
        self.coding = coding
    }

    deinit { unsafe output.deallocate() }

    /// Whether the stream has ended; a body without any byte has too.
    var isComplete: Bool { isAtEnd || !hasBegun }

    /// Unpacks a piece.
    ///
    /// - Parameter take: given what was unpacked, at most 64 KiB at a time, and nothing when a step brought nothing;
    ///   what it throws ends the work.
    /// - Returns: false when the bytes are not what the coding says.
    func decode(
        _ piece: UnsafeRawBufferPointer, _ host: String,
        take: (UnsafeRawBufferPointer) throws(AttachPrepError) -> Void
    ) throws(AttachPrepError) -> Bool {
        guard unsafe !piece.isEmpty else { return true }
        hasBegun = true
        guard coding == .deflate, inflater == nil else { return try unsafe unpack(piece, host, take) }
        unsafe first.append(contentsOf: piece)
        guard first.count >= 2 else { return true }
        let start = first
        first = []
        let wrapping: Inflater.Wrapping = Self.isZlibHeader(start) ? .zlib : .none
        guard let inflater = try? Inflater(wrapping) else { throw .internalFailure("zlib does not start") }
        self.inflater = inflater
        let result = unsafe start.withUnsafeBytes { bytes in
            Result { () throws(AttachPrepError) in try unsafe unpack(bytes, host, take) }
        }
        return try result.get()
    }

    private func unpack(
        _ piece: UnsafeRawBufferPointer, _ host: String,
        _ take: (UnsafeRawBufferPointer) throws(AttachPrepError) -> Void
    ) throws(AttachPrepError) -> Bool {
        var rest = unsafe piece[...]
        while true {
            guard let step = try unsafe step(UnsafeRawBufferPointer(rebasing: rest)) else { return false }
            unsafe rest = rest.dropFirst(step.bytesRead)
            bytesWithoutOutput = step.bytesWritten > 0 ? 0 : bytesWithoutOutput.adding(clamping: step.bytesRead)
            bytesUnpacked = bytesUnpacked.adding(clamping: step.bytesWritten)
            guard bytesWithoutOutput <= Self.bytesWithoutOutputMax else { throw .unpacksToNothing(host) }
            try unsafe take(UnsafeRawBufferPointer(rebasing: output[..<step.bytesWritten]))
            isAtEnd = step.isAtEnd
            guard step.bytesRead > 0 || step.bytesWritten > 0 || isAtEnd else { return unsafe rest.isEmpty }
            if unsafe rest.isEmpty, isAtEnd || step.bytesWritten < Self.stepBytes { return true }
        }
    }

    /// One step of zlib; nil when the bytes do not fit.
    private func step(_ input: UnsafeRawBufferPointer) throws(AttachPrepError) -> Inflater.Step? {
        // Bytes behind the end are another member, or do not belong there.
        if isAtEnd, unsafe !input.isEmpty {
            guard coding == .gzip, unsafe input.first == 0x1f, (try? inflater?.restart()) != nil else { return nil }
        }
        if inflater == nil { inflater = try? Inflater(.gzip) }
        guard let inflater else { throw .internalFailure("zlib does not start") }
        return unsafe try? inflater.step(input, into: output)
    }

    /// RFC 1950, 2.2: method 8, a window that there is, and a checksum of the two.
    private static func isZlibHeader(_ bytes: [UInt8]) -> Bool {
        let (method, flags) = (bytes[0], bytes[1])
        // Bounded: two bytes.
        return method & 0x0f == 8 && method >> 4 <= 7 && (UInt16(method) << 8 | UInt16(flags)) % 31 == 0
    }
}
