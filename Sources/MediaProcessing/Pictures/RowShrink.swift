import JPEG

/// Makes a picture smaller by a whole number while its rows come, each square of pixels becoming their mean: as
/// `PlaneShrink` does with what is in memory already.
struct RowShrink {
    let factor: Int
    /// Samples a pixel, by turns.
    let samples: Int
    private let width: Int
    private let height: Int
    private let smallWidth: Int
    /// Sums of the rows that have come since the last ones were done: at most 256 samples of 8 bits.
    private var sums: [UInt16]
    private var row = 0
    private var planes: [[UInt8]]
    /// Samples of each plane that are done.
    private var filled = 0

    init(width: Int, height: Int, samples: Int, factor: Int) {
        precondition((1...PlaneShrink.factorMax).contains(factor), "sums fit in 16 bits")
        (self.width, self.height, self.samples, self.factor) = (width, height, samples, factor)
        smallWidth = (width + factor - 1) / factor
        sums = [UInt16](repeating: 0, count: width * samples)
        let small = [UInt8](repeating: 0, count: smallWidth * ((height + factor - 1) / factor))
        planes = [[UInt8]](repeating: small, count: samples)
    }

    /// The next row from the top, `width` times the samples of a pixel.
    mutating func take(_ pixels: UnsafeMutableBufferPointer<UInt8>) {
        let count = width * samples
        unsafe sums.withUnsafeMutableBufferPointer { sums in
            for place in 0..<count { unsafe sums[place] &+= UInt16(pixels[place]) }
        }
        row += 1
        if row % factor == 0 || row == height { fold(lines: (row - 1) % factor + 1) }
    }

    /// A plane for each sample of a pixel; all rows have come.
    func shrunk() -> [JPEGPlane] {
        precondition(row == height, "all rows have come")
        return planes.map { JPEGPlane(width: smallWidth, height: (height + factor - 1) / factor, samples: $0) }
    }

    /// The squares that hang over at the right and below have fewer pixels.
    private mutating func fold(lines: Int) {
        let (mean, lastMean) = (
            RoundedMean(count: factor * lines), RoundedMean(count: (width - (smallWidth - 1) * factor) * lines)
        )
        let (width, samples, factor, smallWidth, start) = (width, samples, factor, smallWidth, filled)
        for sample in planes.indices {
            unsafe sums.withUnsafeBufferPointer { sums in
                unsafe planes[sample].withUnsafeMutableBufferPointer { plane in
                    for cell in 0..<smallWidth {
                        let isLast = cell == smallWidth - 1
                        let end = isLast ? width : (cell + 1) &* factor
                        var sum: UInt32 = 0
                        var place = cell &* factor &* samples &+ sample
                        while place < end &* samples {
                            unsafe sum &+= UInt32(sums[place])
                            place &+= samples
                        }
                        unsafe plane[start &+ cell] = isLast ? lastMean.of(sum: sum) : mean.of(sum: sum)
                    }
                }
            }
        }
        filled += smallWidth
        unsafe sums.withUnsafeMutableBufferPointer { sums in
            for place in sums.indices { unsafe sums[place] = 0 }
        }
    }
}
