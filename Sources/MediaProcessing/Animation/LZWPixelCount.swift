/// How many pixels the LZW code of a GIF's frame stands for, without making any of them: whether all are there, and
/// whether all codes are ones.
///
/// What follows the last pixel is nobody's: many encoders leave the end code out, some write more.
/// Source: CompuServe, "Graphics Interchange Format 89a", appendix F.
struct LZWPixelCount {
    private static let codesMax = 4_096
    private static let bitsMax = 12

    private let clear: Int
    private let firstBits: Int
    private var missing: Int
    /// Pixels that each code stands for.
    private var lengths: [Int32]
    private var next: Int
    private var bits: Int
    /// Pixels of the code before; 0 after a clear code.
    private var last: Int32 = 0
    private var held: UInt32 = 0
    private var heldBits = 0
    private var isEnded: Bool

    // Bounded throughout: codes have at most 12 bits and lie below `next`, which ends at 4,096; a frame has at most
    // 2^32 pixels, and a code stands for at most as many as there are codes.

    /// - Parameters:
    ///   - codeBits: The frame's minimum code size; without one from 1 to 11 nothing is a code.
    ///   - pixels: Of the frame.
    init(codeBits: Int, pixels: Int) {
        let isValid = (1..<Self.bitsMax).contains(codeBits)
        firstBits = isValid ? codeBits + 1 : 2
        clear = 1 << (firstBits - 1)
        (bits, next) = (firstBits, clear + 2)
        missing = isValid ? pixels : max(1, pixels)
        isEnded = !isValid
        lengths = [Int32](repeating: 1, count: Self.codesMax)
    }

    /// Whether the codes stand for all pixels.
    var isComplete: Bool { missing <= 0 }

    /// Takes the next bytes; false for what is no code.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> Bool {
        for byte in bytes where !isEnded && missing > 0 {
            held |= UInt32(byte) &<< UInt32(truncatingIfNeeded: heldBits)
            heldBits &+= 8
            while heldBits >= bits, !isEnded, missing > 0 {
                let code = Int(held & ((1 &<< UInt32(truncatingIfNeeded: bits)) &- 1))
                held = held &>> UInt32(truncatingIfNeeded: bits)
                heldBits &-= bits
                guard take(code: code) else { return false }
            }
        }
        return true
    }

    private mutating func take(code: Int) -> Bool {
        if code == clear {
            (bits, next, last) = (firstBits, clear + 2, 0)
            return true
        }
        if code == clear + 1 {
            isEnded = true
            return true
        }
        guard last > 0 else {
            guard code < clear else { return false }
            (last, missing) = (1, missing - 1)
            return true
        }
        guard code < next || (code == next && next < Self.codesMax) else { return false }
        if next < Self.codesMax {
            lengths[next] = last + 1
            next += 1
            if next == 1 << bits, bits < Self.bitsMax { bits += 1 }
        }
        last = lengths[code]
        missing -= Int(last)
        return true
    }
}
