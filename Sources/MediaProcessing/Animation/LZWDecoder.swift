import Glibc

/// The LZW code of a GIF's frame: makes its pixels, or counts them without making any.
///
/// What a code stands for was written before, one pixel behind the other, so that a code is kept as a place among the
/// pixels and a length. What follows the last pixel is nobody's: many encoders leave the end code out, some write more.
/// Source: CompuServe, "Graphics Interchange Format 89a", appendix F.
struct LZWDecoder {
    private static let codesMax = 4_096
    private static let bitsMax = 12

    /// Pixels that came before, one behind the other.
    private struct Run: BitwiseCopyable {
        var start: UInt32 = 0
        var length: UInt32 = 0
    }

    private let clear: Int
    private let firstBits: Int
    private let count: Int
    private var filled = 0
    /// What each code stands for.
    private let runs = NumberRow(repeating: Run(), count: codesMax)
    private var next: Int
    private var bits: Int
    /// What the code before stood for; no pixels after a clear code.
    private var last = Run()
    private var held: UInt64 = 0
    private var heldBits = 0
    private var isEnded: Bool

    // Bounded throughout: codes have at most 12 bits and lie below `next`, which ends at 4,096; a frame has fewer than
    // 2^32 pixels, and a code stands for as many as there are codes at most, all of which have been written.

    /// - Parameters:
    ///   - codeBits: The frame's minimum code size; without one from 1 to 11 nothing is a code.
    ///   - pixels: Of the frame.
    init(codeBits: Int, pixels: Int) {
        let isValid = (1..<Self.bitsMax).contains(codeBits)
        firstBits = isValid ? codeBits + 1 : 2
        clear = 1 << (firstBits - 1)
        (bits, next) = (firstBits, clear + 2)
        count = isValid ? pixels : max(1, pixels)
        isEnded = !isValid
    }

    /// Whether the codes stood for all pixels.
    var isComplete: Bool { filled >= count }

    /// Takes the next bytes of code; false for what is no code.
    ///
    /// - Parameter pixels: Room for all pixels of the frame, the same each time; nil to count them.
    mutating func take(_ bytes: ArraySlice<UInt8>, into pixels: UnsafeMutableBufferPointer<UInt8>?) -> Bool {
        unsafe precondition(pixels.map { $0.count >= count } ?? true, "there is room for the frame")
        // Copies stay in registers.
        var decoder = self
        defer { self = decoder }
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            for place in 0..<bytes.count where !decoder.isEnded && decoder.filled < decoder.count {
                unsafe decoder.held |= UInt64(bytes[place]) &<< UInt64(truncatingIfNeeded: decoder.heldBits)
                decoder.heldBits &+= 8
                while decoder.heldBits >= decoder.bits, !decoder.isEnded, decoder.filled < decoder.count {
                    let mask = (1 &<< UInt64(truncatingIfNeeded: decoder.bits)) &- 1
                    let code = Int(truncatingIfNeeded: decoder.held & mask)
                    decoder.held = decoder.held &>> UInt64(truncatingIfNeeded: decoder.bits)
                    decoder.heldBits &-= decoder.bits
                    guard unsafe decoder.take(code: code, into: pixels) else { return false }
                }
            }
            return true
        }
    }

    @inline(__always)
    private mutating func take(code: Int, into pixels: UnsafeMutableBufferPointer<UInt8>?) -> Bool {
        if code < clear {
            if last.length > 0 { keep() }
            if let pixels = unsafe pixels { unsafe pixels[filled] = UInt8(truncatingIfNeeded: code) }
            last = Run(start: UInt32(truncatingIfNeeded: filled), length: 1)
            filled &+= 1
        } else if code == clear {
            (bits, next, last) = (firstBits, clear &+ 2, Run())
        } else if code == clear &+ 1 {
            isEnded = true
        } else {
            guard last.length > 0, code < next || (code == next && next < Self.codesMax) else { return false }
            // The code that is kept now may be the one that is taken: its last pixel is the first one written.
            keep()
            let run = runs[code]
            let length = min(Int(run.length), count &- filled)
            if let pixels = unsafe pixels { unsafe Self.copy(length, from: Int(run.start), to: filled, in: pixels) }
            last = Run(start: UInt32(truncatingIfNeeded: filled), length: run.length)
            filled &+= length
        }
        return true
    }

    /// What the code before stood for and the pixel behind it, which is written next, become a code.
    @inline(__always)
    private mutating func keep() {
        guard next < Self.codesMax else { return }
        runs[next] = Run(start: last.start, length: last.length &+ 1)
        next &+= 1
        if next == 1 &<< bits, bits < Self.bitsMax { bits &+= 1 }
    }

    /// From the first to the last, which may be the first one written.
    @inline(__always)
    private static func copy(
        _ length: Int, from start: Int, to target: Int, in pixels: UnsafeMutableBufferPointer<UInt8>
    ) {
        precondition(start &+ length <= target &+ 1 && target &+ length <= pixels.count, "what is repeated was written")
        guard length > 0, let base = pixels.baseAddress else { return }
        if length <= shortLength {
            for place in 0..<length { unsafe base[target &+ place] = base[start &+ place] }
        } else {
            unsafe memcpy(base + target, base + start, length &- 1)
            unsafe base[target &+ length &- 1] = base[start &+ length &- 1]
        }
    }

    /// Pixels up to which a loop is quicker than a call.
    private static let shortLength = 16
}
