import CSPNG
import Glibc

/// The bytes of a PNG's file for libspng, one after another, waiting at its end where there will be more.
final class PNGSource {
    /// Bytes read at a time: libspng asks for some thousands.
    private static let pieceBytes = 131_072

    private let descriptor: CInt
    private let waitForMore: () -> Bool
    private var offset = 0
    private var piece: [UInt8] = []
    private var place = 0

    init(descriptor: CInt, waitForMore: @escaping () -> Bool) {
        self.descriptor = descriptor
        self.waitForMore = waitForMore
    }

    /// Has libspng read from it; it has to outlive the context's reading.
    func give(to context: OpaquePointer) throws(PNGError) {
        let code = unsafe spng_set_png_stream(
            context,
            { _, user, target, count in
                guard let user = unsafe user, let target = unsafe target else { return CInt(SPNG_IO_ERROR.rawValue) }
                let source = unsafe Unmanaged<PNGSource>.fromOpaque(user).takeUnretainedValue()
                let buffer = unsafe UnsafeMutableRawBufferPointer(start: target, count: count)
                return unsafe source.fill(buffer) ? 0 : CInt(SPNG_IO_EOF.rawValue)
            }, Unmanaged.passUnretained(self).toOpaque())
        try PNGError.check(code, "set_png_stream")
    }

    // Bounded throughout: `filled` lies in the buffer, `place` in the piece, and `offset` is where the file was read
    // to.

    /// Fills all of the buffer.
    ///
    /// - Returns: Whether the file had as much.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var filled = 0
        while filled < buffer.count {
            if place == piece.count, !readOn() { return false }
            let count = min(piece.count - place, buffer.count - filled)
            unsafe piece.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + count)])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[place..<(place + count)]))
            }
            filled += count
            place += count
        }
        return true
    }

    private func readOn() -> Bool {
        repeat { piece = readPiece() } while piece.isEmpty && waitForMore()
        offset += piece.count
        place = 0
        return !piece.isEmpty
    }

    private func readPiece() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, filled in
            var count = -1
            repeat {
                count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            } while count < 0 && errno == EINTR
            filled = max(0, count)
        }
    }
}
