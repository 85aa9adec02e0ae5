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
