/// A pixel as the encoder of GIFs handles it: red in the lowest byte, then green, blue and 255; 0 is transparent.
typealias IndexedColour = UInt32

extension IndexedColour {
    /// A weighted distance is so many times the square of a difference that all three components share.
    static let distanceScale = 7

    init(red: Int, green: Int, blue: Int) {
        self = UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000
    }

    @inline(__always) var red: Int { Int(self & 0xFF) }
    @inline(__always) var green: Int { Int(self >> 8 & 0xFF) }
    @inline(__always) var blue: Int { Int(self >> 16 & 0xFF) }

    /// Squares of the differences, weighted about as the eye weighs the components.
    @inline(__always) func distance(to other: IndexedColour) -> Int32 {
        // None of this can overflow, and checking it would take half the time of writing a GIF.
        let red = Int32(truncatingIfNeeded: self & 0xFF) &- Int32(truncatingIfNeeded: other & 0xFF)
        let green = Int32(truncatingIfNeeded: self >> 8 & 0xFF) &- Int32(truncatingIfNeeded: other >> 8 & 0xFF)
        let blue = Int32(truncatingIfNeeded: self >> 16 & 0xFF) &- Int32(truncatingIfNeeded: other >> 16 & 0xFF)
        return 2 &* red &* red &+ 4 &* green &* green &+ blue &* blue
    }

    /// A picture's pixels; GIF knows no half transparency, so alpha below a half is none.
    static func pixels(of bytes: [UInt8]) -> [IndexedColour] {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe [IndexedColour](unsafeUninitializedCapacity: buffer.count / 4) { pixels, count in
                for index in 0..<buffer.count / 4 {
                    let raw = unsafe buffer.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
                    let colour = UInt32(littleEndian: raw)
                    unsafe pixels.initializeElement(at: index, to: colour >> 24 < 128 ? 0 : colour | 0xFF00_0000)
                }
                count = buffer.count / 4
            }
        }
    }
}
