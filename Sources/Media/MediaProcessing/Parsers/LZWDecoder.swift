import Glibc

/// Decodes the LZW data of a GIF frame into pixels, or only counts them.
///
/// The string of a code was always written before, so a code is stored as the index of its first pixel and a length.
/// Data after the last pixel is ignored: many encoders omit the end code, some write more. Source: CompuServe,
/// "Graphics Interchange Format 89a", appendix F.
struct LZWDecoder {
    private static let codesMax = 4_096
    private static let bitsMax = 12

    /// A string of pixels that were already written.
    private struct Run: BitwiseCopyable {
        var start: UInt32 = 0
        var length: UInt32 = 0
    }

    private let clear: Int
    private let firstBits: Int
    private let count: Int
    private var filled = 0
    /// The string of each code.
    private let runs = UnsafeArray(repeating: Run(), count: codesMax)
    private var next: Int
    private var bits: Int
    /// The string of the previous code; empty after a clear code.
    private var last = Run()
    private var held: UInt64 = 0
    private var heldBits = 0
    private var isEnded: Bool

    // Bounded throughout: codes have at most 12 bits and lie below `next`, which ends at 4,096; a frame has fewer than
    // 2^32 pixels, and a code's string has at most as many pixels as there are codes, all of which have been written.

    /// - Parameters:
    ///   - codeBits: The frame's minimum code size; every code is invalid unless it is from 1 to 11.
    ///   - pixels: Number of pixels of the frame.
    init(codeBits: Int, pixels: Int) {
        let isValid = (1..<Self.bitsMax).contains(codeBits)
        firstBits = isValid ? codeBits + 1 : 2
        clear = 1 << (firstBits - 1)
        (bits, next) = (firstBits, clear + 2)
        count = isValid ? pixels : max(1, pixels)
        isEnded = !isValid
    }

    /// Whether all pixels were decoded.
    var isComplete: Bool { filled >= count }

    /// Decodes the next bytes; false for an invalid code.
    ///
    /// - Parameter pixels: A buffer for all pixels of the frame, the same each time; nil to count them.
    mutating func decode(_ bytes: ArraySlice<UInt8>, into pixels: UnsafeMutableBufferPointer<UInt8>?) -> Bool {
        unsafe precondition(pixels.map { $0.count >= count } ?? true, "the buffer is smaller than the frame")
        // A local copy stays in registers.
        var decoder = self
        defer { self = decoder }
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            for index in 0..<bytes.count where !decoder.isEnded && decoder.filled < decoder.count {
                unsafe decoder.held |= UInt64(bytes[index]) &<< UInt64(truncatingIfNeeded: decoder.heldBits)
                decoder.heldBits &+= 8
                while decoder.heldBits >= decoder.bits, !decoder.isEnded, decoder.filled < decoder.count {
                    let mask = (1 &<< UInt64(truncatingIfNeeded: decoder.bits)) &- 1
                    let code = Int(truncatingIfNeeded: decoder.held & mask)
                    decoder.held = decoder.held &>> UInt64(truncatingIfNeeded: decoder.bits)
                    decoder.heldBits &-= decoder.bits
                    guard unsafe decoder.apply(code: code, into: pixels) else { return false }
                }
            }
            return true
        }
    }

    @inline(__always)
    private mutating func apply(code: Int, into pixels: UnsafeMutableBufferPointer<UInt8>?) -> Bool {
        if code < clear {
            if last.length > 0 { storeEntry() }
            if let pixels = unsafe pixels { unsafe pixels[filled] = UInt8(truncatingIfNeeded: code) }
            last = Run(start: UInt32(truncatingIfNeeded: filled), length: 1)
            filled &+= 1
        } else if code == clear {
            (bits, next, last) = (firstBits, clear &+ 2, Run())
        } else if code == clear &+ 1 {
            isEnded = true
        } else {
            guard last.length > 0, code < next || (code == next && next < Self.codesMax) else { return false }
            // The code may be the one that is being added; its last pixel is then the first one written now.
            storeEntry()
            let run = runs[code]
            let length = min(Int(run.length), count &- filled)
            if let pixels = unsafe pixels { unsafe Self.copy(length, from: Int(run.start), to: filled, in: pixels) }
            last = Run(start: UInt32(truncatingIfNeeded: filled), length: run.length)
            filled &+= length
        }
        return true
    }

    /// Adds a code: the string of the previous code and the pixel that is written next.
    @inline(__always)
    private mutating func storeEntry() {
        guard next < Self.codesMax else { return }
        runs[next] = Run(start: last.start, length: last.length &+ 1)
        next &+= 1
        if next == 1 &<< bits, bits < Self.bitsMax { bits &+= 1 }
    }

    /// Copies pixels; the last one may be the first one written now.
    @inline(__always)
    private static func copy(
        _ length: Int, from start: Int, to target: Int, in pixels: UnsafeMutableBufferPointer<UInt8>
    ) {
        precondition(start &+ length <= target &+ 1 && target &+ length <= pixels.count, "copies unwritten pixels")
        guard length > 0, let base = pixels.baseAddress else { return }
        if length <= shortLength {
            for index in 0..<length { unsafe base[target &+ index] = base[start &+ index] }
        } else {
            unsafe memcpy(base + target, base + start, length &- 1)
            unsafe base[target &+ length &- 1] = base[start &+ length &- 1]
        }
    }

    /// Length up to which a loop is faster than memcpy.
    private static let shortLength = 16
}
