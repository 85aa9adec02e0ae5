import MediaLibraries
import MediaTypes

/// Reduces a component by a whole factor, each square of samples becoming their mean, so that the filter that follows
/// processes less.
enum PlaneBoxFilter {
    /// The least reduction left to the filter: from 2 up, the squares are not visible in its result.
    private static let restMin = 2.0
    /// Sums of so many 8-bit samples fit in 16 bits.
    static let factorMax = 256

    /// The factor for a plane that is then filtered to the given size; 1 for no reduction. Pure.
    static func factor(of plane: JPEGPlane, width: Int, height: Int) -> Int {
        factor(from: (plane.width, plane.height), to: (width, height))
    }

    /// The factor for an image that is then filtered to the given size; 1 for no reduction. Pure.
    static func factor(from size: (width: Int, height: Int), to target: (width: Int, height: Int)) -> Int {
        let rest = min(Double(size.width) / Double(target.width), Double(size.height) / Double(target.height))
        return max(1, min(factorMax, Int(rest / restMin)))
    }

    /// Squares that extend past the right or bottom edge have fewer samples.
    static func shrink(_ plane: JPEGPlane, by factor: Int) -> JPEGPlane {
        guard factor > 1 else { return plane }
        let width = (plane.width + factor - 1) / factor
        let height = (plane.height + factor - 1) / factor
        let samples = unsafe [UInt8](unsafeUninitializedCapacity: width * height) { target, filled in
            var sums = [UInt16](repeating: 0, count: plane.width)
            for row in 0..<height {
                let lines = (row * factor)..<min((row + 1) * factor, plane.height)
                add(lines, of: plane, to: &sums)
                let mean = RoundedMean(count: factor * lines.count)
                let lastMean = RoundedMean(count: (plane.width - (width - 1) * factor) * lines.count)
                for column in 0..<width {
                    let isLast = column == width - 1
                    var sum: UInt32 = 0
                    for index in (column * factor)..<(isLast ? plane.width : (column + 1) * factor) {
                        sum &+= UInt32(sums[index])
                    }
                    unsafe target[row * width + column] = isLast ? lastMean.of(sum: sum) : mean.of(sum: sum)
                }
            }
            filled = width * height
        }
        return JPEGPlane(width: width, height: height, samples: samples)
    }

    /// The same for luma whose light is averaged.
    static func shrinkLight(_ plane: JPEGPlane, by factor: Int) -> JPEGPlane {
        guard factor > 1 else { return plane }
        let width = (plane.width + factor - 1) / factor
        let height = (plane.height + factor - 1) / factor
        let shift = 16 - LightCurve.bits
        let samples = unsafe [UInt8](unsafeUninitializedCapacity: width * height) { target, filled in
            var sums = [UInt32](repeating: 0, count: plane.width)
            for row in 0..<height {
                let lines = (row * factor)..<min((row + 1) * factor, plane.height)
                addLight(lines, of: plane, to: &sums)
                for column in 0..<width {
                    let columns = (column * factor)..<min((column + 1) * factor, plane.width)
                    // Bounded: `factorMax` squared times 65,535 is less than 2 to the power of 32.
                    var sum: UInt32 = 0
                    for index in columns { sum &+= sums[index] }
                    let mean = sum / UInt32(truncatingIfNeeded: lines.count &* columns.count)
                    unsafe target[row * width + column] = LightCurve.samples[Int(mean >> UInt32(shift))]
                }
            }
            filled = width * height
        }
        return JPEGPlane(width: width, height: height, samples: samples)
    }

    private static func addLight(_ lines: Range<Int>, of plane: JPEGPlane, to sums: inout [UInt32]) {
        let width = plane.width
        unsafe plane.samples.withUnsafeBufferPointer { samples in
            unsafe LightCurve.light16.withUnsafeBufferPointer { table in
                unsafe sums.withUnsafeMutableBufferPointer { sums in
                    for column in 0..<width { unsafe sums[column] = 0 }
                    for line in lines {
                        for column in 0..<width {
                            let sample = unsafe samples[line &* width &+ column]
                            unsafe sums[column] &+= UInt32(table[Int(sample)])
                        }
                    }
                }
            }
        }
    }

    private static func add(_ lines: Range<Int>, of plane: JPEGPlane, to sums: inout [UInt16]) {
        let width = plane.width
        unsafe plane.samples.withUnsafeBufferPointer { samples in
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                for column in 0..<width { unsafe sums[column] = 0 }
                for line in lines {
                    for column in 0..<width { unsafe sums[column] &+= UInt16(samples[line &* width &+ column]) }
                }
            }
        }
    }
}

/// Reduces an image by a whole factor while its rows arrive, each square of pixels becoming their mean: the streaming
/// version of `PlaneBoxFilter`.
struct RowBoxFilter {
    let factor: Int
    /// Samples a pixel, interleaved.
    let samples: Int
    private let width: Int
    private let height: Int
    private let smallWidth: Int
    /// Sums of the rows since the last output row: at most 256 samples of 8 bits.
    private var sums: [UInt16]
    private var row = 0
    private var planes: [[UInt8]]
    /// Samples finished in each plane.
    private var filled = 0

    init(width: Int, height: Int, samples: Int, factor: Int) {
        precondition((1...PlaneBoxFilter.factorMax).contains(factor), "sums fit in 16 bits")
        (self.width, self.height, self.samples, self.factor) = (width, height, samples, factor)
        smallWidth = (width + factor - 1) / factor
        sums = [UInt16](repeating: 0, count: width * samples)
        let small = [UInt8](repeating: 0, count: smallWidth * ((height + factor - 1) / factor))
        planes = [[UInt8]](repeating: small, count: samples)
    }

    /// Adds the next row from the top, `width` times the samples of a pixel.
    mutating func append(_ pixels: UnsafeMutableBufferPointer<UInt8>) {
        let count = width * samples
        unsafe sums.withUnsafeMutableBufferPointer { sums in
            for index in 0..<count { unsafe sums[index] &+= UInt16(pixels[index]) }
        }
        row += 1
        if row % factor == 0 || row == height { fold(lines: (row - 1) % factor + 1) }
    }

    /// A plane for each sample of a pixel; call it after the last row.
    func shrunk() -> [JPEGPlane] {
        precondition(row == height, "all rows have come")
        return planes.map { JPEGPlane(width: smallWidth, height: (height + factor - 1) / factor, samples: $0) }
    }

    /// Squares that extend past the right or bottom edge have fewer pixels.
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
                        var index = cell &* factor &* samples &+ sample
                        while index < end &* samples {
                            unsafe sum &+= UInt32(sums[index])
                            index &+= samples
                        }
                        unsafe plane[start &+ cell] = isLast ? lastMean.of(sum: sum) : mean.of(sum: sum)
                    }
                }
            }
        }
        filled += smallWidth
        unsafe sums.withUnsafeMutableBufferPointer { sums in
            for index in sums.indices { unsafe sums[index] = 0 }
        }
    }
}

/// The rounded mean of a fixed number of 8-bit samples, without a division for each.
struct RoundedMean {
    private let count: UInt32
    /// The reciprocal, rounded up, with 32 fractional bits; 0 where its error would be visible.
    private let reciprocal: UInt64

    /// Up to here `255.5 * count * count` stays below 2^32.
    private static let exactCountMax: UInt32 = 4096

    init(count: Int) {
        self.count = UInt32(count)
        reciprocal = self.count > Self.exactCountMax ? 0 : (1 << 32 + UInt64(count) - 1) / UInt64(count)
    }

    @inline(__always)
    func of(sum: UInt32) -> UInt8 {
        let rounded = sum &+ count / 2
        guard reciprocal != 0 else { return UInt8(truncatingIfNeeded: rounded / count) }
        return UInt8(truncatingIfNeeded: (UInt64(rounded) &* reciprocal) >> 32)
    }
}

/// Multiplies colors by alpha before pixels are averaged, so that transparent pixels do not color their neighbors.
enum AlphaPremultiplication {
    /// Premultiplies a row of RGBA pixels in place.
    static func premultiply(to pixels: UnsafeMutableBufferPointer<UInt8>) {
        guard unsafe !isOpaque(pixels) else { return }
        for index in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = unsafe UInt16(pixels[index + 3])
            if alpha == 255 { continue }
            for color in index..<(index + 3) {
                unsafe pixels[color] = UInt8(truncatingIfNeeded: (UInt16(pixels[color]) &* alpha &+ 127) / 255)
            }
        }
    }

    /// Reverses the premultiplication for a part of an image; returns interleaved RGBA.
    ///
    /// - Parameter columns: Premultiplied red, green and blue, and alpha, column by column.
    static func unpremultiply(_ columns: [[UInt8]], height: Int, cut: PixelRect) -> [UInt8] {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(cut.width * cut.height * 4)
        for row in cut.top..<(cut.top + cut.height) {
            for column in cut.left..<(cut.left + cut.width) {
                let index = column * height + row
                let alpha = Int(columns[3][index])
                for color in 0..<3 {
                    let weighted = Int(columns[color][index])
                    pixels.append(alpha == 0 ? 0 : UInt8(min(255, (weighted * 255 + alpha / 2) / alpha)))
                }
                pixels.append(UInt8(alpha))
            }
        }
        return pixels
    }

    /// Most rows are opaque, and checking is faster than multiplying.
    private static func isOpaque(_ pixels: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        var all = UInt8.max
        for index in stride(from: 3, to: pixels.count, by: 4) { unsafe all &= pixels[index] }
        return all == .max
    }
}
