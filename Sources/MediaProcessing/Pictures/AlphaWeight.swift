import RichPush

/// The weight that alpha gives to a colour while pixels are added up: without it, what is transparent would colour its
/// neighbours.
enum AlphaWeight {
    /// Weights red, green and blue of a row of pixels of four samples.
    static func give(to pixels: UnsafeMutableBufferPointer<UInt8>) {
        guard unsafe !isOpaque(pixels) else { return }
        for place in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = unsafe UInt16(pixels[place + 3])
            if alpha == 255 { continue }
            for colour in place..<(place + 3) {
                unsafe pixels[colour] = UInt8(truncatingIfNeeded: (UInt16(pixels[colour]) &* alpha &+ 127) / 255)
            }
        }
    }

    /// Takes the weight off a part of a picture: red, green, blue and alpha by turns, as files hold them.
    ///
    /// - Parameter columns: Weighted red, green and blue, and alpha, column by column.
    static func takeOff(_ columns: [[UInt8]], height: Int, cut: PixelRect) -> [UInt8] {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(cut.width * cut.height * 4)
        for row in cut.top..<(cut.top + cut.height) {
            for column in cut.left..<(cut.left + cut.width) {
                let place = column * height + row
                let alpha = Int(columns[3][place])
                for colour in 0..<3 {
                    let weighted = Int(columns[colour][place])
                    pixels.append(alpha == 0 ? 0 : UInt8(min(255, (weighted * 255 + alpha / 2) / alpha)))
                }
                pixels.append(UInt8(alpha))
            }
        }
        return pixels
    }

    /// Most rows are, and looking is quicker than multiplying.
    private static func isOpaque(_ pixels: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        var all = UInt8.max
        for place in stride(from: 3, to: pixels.count, by: 4) { unsafe all &= pixels[place] }
        return all == .max
    }
}
