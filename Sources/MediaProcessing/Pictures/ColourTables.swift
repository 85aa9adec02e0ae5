/// `ColourTurn`'s numbers where no bounds are looked at: each index is brought into its table first.
@safe struct ColourTables {
    let light: UnsafeBufferPointer<Int32>
    let bytes: UnsafeBufferPointer<UInt8>
    private let ownRed: SIMD4<Int32>
    private let ownGreen: SIMD4<Int32>
    private let ownBlue: SIMD4<Int32>
    private let redOfRed: Int32
    private let greenOfBlue: Int32
    private let greenOfRed: Int32
    private let blueOfBlue: Int32

    init(light: UnsafeBufferPointer<Int32>, bytes: UnsafeBufferPointer<UInt8>, mix: [Int32], chroma: [Int32]) {
        unsafe (self.light, self.bytes) = (light, bytes)
        ownRed = SIMD4(mix[0], mix[3], mix[6], 0)
        ownGreen = SIMD4(mix[1], mix[4], mix[7], 0)
        ownBlue = SIMD4(mix[2], mix[5], mix[8], 0)
        (redOfRed, greenOfBlue, greenOfRed, blueOfBlue) = (chroma[0], chroma[1], chroma[2], chroma[3])
    }

    /// One sample of chroma and the luma that it belongs to.
    @inline(__always)
    func turn(
        _ luma: UnsafeMutableBufferPointer<UInt8>, width: Int, rows: Range<Int>, columns: Range<Int>,
        blue: inout UInt8, red: inout UInt8
    ) {
        let (cb, cr) = (Int32(blue) &- 128, Int32(red) &- 128)
        let half = Int32(1) << Int32(ColourTurn.bits - 1)
        let (one, entries) = (Int32(ColourTurn.bits), 256 + 2 * ColourTurn.reach)
        let redPlace = Int((redOfRed &* cr &+ half) >> one) + ColourTurn.reach
        let greenPlace = Int((greenOfBlue &* cb &+ greenOfRed &* cr &+ half) >> one) + ColourTurn.reach + entries
        let bluePlace = Int((blueOfBlue &* cb &+ half) >> one) + ColourTurn.reach + 2 * entries
        var (reds, greens, blues): (Int32, Int32, Int32) = (0, 0, 0)
        for row in rows {
            for column in columns {
                let place = row &* width &+ column
                let y = unsafe Int(luma[place])
                let sum =
                    unsafe ownRed &* light[redPlace &+ y] &+ ownGreen &* light[greenPlace &+ y]
                    &+ ownBlue &* light[bluePlace &+ y]
                let most = Int32(ColourTurn.lightMax)
                let steps = (sum &>> Int32(ColourTurn.lightBits)).clamped(
                    lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: most))
                let (r, g, b) = unsafe (
                    Int32(bytes[Int(steps[0])]), Int32(bytes[Int(steps[1])]), Int32(bytes[Int(steps[2])])
                )
                unsafe luma[place] = UInt8(
                    truncatingIfNeeded: (19_595 &* r &+ 38_470 &* g &+ 7_471 &* b &+ 32_768) >> 16)
                (reds, greens, blues) = (reds &+ r, greens &+ g, blues &+ b)
            }
        }
        let count = Int32(rows.count &* columns.count)
        blue = Self.chroma(-11_059 &* reds &- 21_709 &* greens &+ 32_768 &* blues, of: count)
        red = Self.chroma(32_768 &* reds &- 27_439 &* greens &- 5_329 &* blues, of: count)
    }

    /// 16 bits behind the point, of so many pixels.
    private static func chroma(_ sum: Int32, of count: Int32) -> UInt8 {
        let mean = count == 4 ? sum >> 2 : sum / count
        return UInt8(truncatingIfNeeded: max(0, min(255, ((mean &+ 32_768) >> 16) &+ 128)))
    }
}
