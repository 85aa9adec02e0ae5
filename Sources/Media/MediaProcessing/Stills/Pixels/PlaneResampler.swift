import Glibc
import MediaLibraries

/// Reduces the components of an image to one size: 8 bits a sample, rows without padding.
///
/// Both directions use the same loop over whole rows, many samples at a time; the plane is transposed between them.
struct PlaneResampler {
    /// A cache line, as four independent sums.
    private typealias Lanes = SIMD16<Float>

    /// Maximum pixels of an image: 4 bytes a sample, before and after, are 64 MB. Larger ones (a thumbnail of thousands
    /// of pixels) are left to libvips, which holds only some rows.
    static let pixelsMax = 8_000_000

    let width: Int
    let height: Int
    /// By the length of the line; the planes of an image mostly have one size.
    private var filters: [Line: LanczosFilter] = [:]

    private struct Line: Hashable {
        let count: Int
        let target: Int
        let span: Double
    }

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
    }

    /// Returns the samples column by column: the plane is still transposed.
    ///
    /// - Parameter factor: The factor by which the plane was already reduced; its last samples may cover less.
    /// - Parameter stored: The plane's size before that.
    /// - Parameter inLight: Whether light is averaged instead of stored samples: of luma, in pictures shown large.
    mutating func columns(
        of plane: JPEGPlane, factor: Int = 1, stored: (width: Int, height: Int)? = nil, inLight: Bool = false
    ) -> [UInt8] {
        let spans = stored.map { (Double($0.width) / Double(factor), Double($0.height) / Double(factor)) }
        let rowFilter = filter(from: plane.height, to: height, span: spans?.1 ?? Double(plane.height))
        let numbers = inLight ? Self.light(plane.samples) : Self.numbers(plane.samples)
        let lower = Self.reduceRows(numbers, rowLength: plane.width, by: rowFilter)
        let transposedPlane = Self.transposed(lower, rowLength: plane.width, rows: height)
        let columnFilter = filter(from: plane.width, to: width, span: spans?.0 ?? Double(plane.width))
        let reduced = Self.reduceRows(transposedPlane, rowLength: height, by: columnFilter)
        return inLight
            ? Self.samples(ofLight: reduced, count: width * height) : Self.samples(reduced, count: width * height)
    }

    /// The same for a plane that is much larger; it is reduced with a box filter first.
    mutating func columns(ofLarge plane: JPEGPlane, inLight: Bool = false) -> [UInt8] {
        let factor = PlaneBoxFilter.factor(of: plane, width: width, height: height)
        let small = inLight ? PlaneBoxFilter.shrinkLight(plane, by: factor) : PlaneBoxFilter.shrink(plane, by: factor)
        return columns(of: small, factor: factor, stored: (plane.width, plane.height), inLight: inLight)
    }

    private mutating func filter(from count: Int, to target: Int, span: Double) -> LanczosFilter {
        let line = Line(count: count, target: target, span: span)
        if let known = filters[line] { return known }
        let filter = LanczosFilter(from: count, to: target, span: span)
        filters[line] = filter
        return filter
    }

    /// Padding after the last sample, since the loops process sixteen samples at a time.
    private static let slack = Lanes.scalarCount

    private static func buffer(_ count: Int, _ fill: (UnsafeMutablePointer<Float>) -> Void) -> [Float] {
        unsafe [Float](unsafeUninitializedCapacity: count + slack) { buffer, filled in
            guard let base = buffer.baseAddress else { return }
            unsafe fill(base)
            for index in count..<(count + slack) { unsafe base[index] = 0 }
            filled = count + slack
        }
    }

    private static func numbers(_ samples: [UInt8]) -> [Float] {
        unsafe buffer(samples.count) { numbers in
            unsafe samples.withUnsafeBufferPointer { samples in
                for index in 0..<samples.count { unsafe numbers[index] = Float(samples[index]) }
            }
        }
    }

    private static func light(_ samples: [UInt8]) -> [Float] {
        unsafe buffer(samples.count) { numbers in
            unsafe samples.withUnsafeBufferPointer { samples in
                unsafe LightCurve.light.withUnsafeBufferPointer { table in
                    for index in 0..<samples.count { unsafe numbers[index] = table[Int(samples[index])] }
                }
            }
        }
    }

    private static func samples(ofLight numbers: [Float], count: Int) -> [UInt8] {
        let most = Float(LightCurve.samples.count - 1)
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            unsafe numbers.withUnsafeBufferPointer { numbers in
                unsafe LightCurve.samples.withUnsafeBufferPointer { table in
                    for index in 0..<count {
                        let number = unsafe numbers[index] * most + 0.5
                        let positive = number > 0 ? number : 0
                        // Bounded: from 0 to the table's last index.
                        unsafe bytes[index] = table[Int(positive < most ? positive : most)]
                    }
                }
            }
            filled = count
        }
    }

    /// Rounds and clamps to a byte, since the filter's lobes overshoot.
    private static func samples(_ numbers: [Float], count: Int) -> [UInt8] {
        // Adding 2^23 moves the integer part of a Float into its lowest bits, rounded.
        let roundingOffset: Float = 8_388_608
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            unsafe numbers.withUnsafeBufferPointer { numbers in
                for index in 0..<count {
                    let number = unsafe numbers[index]
                    let positive = number > 0 ? number : 0
                    let bounded = positive < 255 ? positive : 255
                    unsafe bytes[index] = UInt8(truncatingIfNeeded: (bounded + roundingOffset).bitPattern)
                }
            }
            filled = count
        }
    }

    /// Computes each output row as a weighted sum of input rows.
    private static func reduceRows(_ source: [Float], rowLength: Int, by filter: LanczosFilter) -> [Float] {
        let rows = filter.first.count
        return unsafe buffer(rows * rowLength) { target in
            unsafe source.withUnsafeBytes { source in
                unsafe filter.weights.withUnsafeBufferPointer { weights in
                    for row in 0..<rows {
                        guard let input = source.baseAddress, let weight = weights.baseAddress else { return }
                        unsafe reduce(
                            input + filter.first[row] * rowLength * MemoryLayout<Float>.stride, rowLength: rowLength,
                            weights: weight + row * filter.taps, taps: filter.taps,
                            to: UnsafeMutableRawPointer(target + row * rowLength))
                    }
                }
            }
        }
    }

    /// Computes one row; bytes written past its end belong to the next row, which is computed later.
    @inline(__always)
    private static func reduce(
        _ source: UnsafeRawPointer, rowLength: Int, weights: UnsafePointer<Float>, taps: Int,
        to target: UnsafeMutableRawPointer
    ) {
        let step = rowLength &* MemoryLayout<Float>.stride
        var column = 0
        while column < step {
            var sum = Lanes.zero
            var pointer = unsafe source + column
            for tap in 0..<taps {
                unsafe sum += pointer.loadUnaligned(as: Lanes.self) * weights[tap]
                unsafe pointer += step
            }
            unsafe (target + column).storeBytes(of: sum, as: Lanes.self)
            column &+= MemoryLayout<Lanes>.size
        }
    }

    /// Transposes the samples.
    private static func transposed(_ source: [Float], rowLength: Int, rows: Int) -> [Float] {
        // In squares, for cache locality.
        let side = 16
        return unsafe buffer(rowLength * rows) { target in
            unsafe source.withUnsafeBufferPointer { source in
                for top in stride(from: 0, to: rows, by: side) {
                    let bottom = min(top + side, rows)
                    for column in 0..<rowLength {
                        for row in top..<bottom {
                            unsafe target[column &* rows &+ row] = source[row &* rowLength &+ column]
                        }
                    }
                }
            }
        }
    }
}

/// The weights that reduce a line of samples: a Lanczos kernel of three lobes, stretched over all samples that a new
/// one covers, so that none is left out and nothing aliases. Pure.
///
/// Source: C. E. Duchon, "Lanczos Filtering in One and Two Dimensions", 1979; also the default of libvips and swscale.
struct LanczosFilter: Sendable {
    /// Lobes on either side of the center.
    private static let lobes = 3.0

    /// The first input sample of each new one.
    let first: [Int]
    /// Weights of each new sample.
    let taps: Int
    /// `taps` for each new sample, which sum up to 1.
    let weights: [Float]

    /// - Parameters:
    ///   - count: Number of input samples.
    ///   - target: Number of output samples; more than `count` interpolates, which this filter is not meant for.
    ///   - span: Length of the line in samples when the last one is not whole; `count` by default.
    init(from count: Int, to target: Int, span: Double? = nil) {
        let step = (span ?? Double(count)) / Double(target)
        let stretch = max(1, step)
        let reach = Self.lobes * stretch
        let taps = min(count, Int((2 * reach).rounded(.up)) + 1)
        var first: [Int] = []
        var weights: [Float] = []
        for index in 0..<target {
            let middle = (Double(index) + 0.5) * step - 0.5
            // At the ends, missing samples are left out and the remaining weights are scaled up.
            let start = max(0, min(count - taps, Int((middle - reach).rounded(.up))))
            let row = (0..<taps).map { Self.kernel((Double(start + $0) - middle) / stretch) }
            let sum = row.reduce(0, +)
            first.append(start)
            weights += row.map { Float($0 / sum) }
        }
        (self.first, self.taps, self.weights) = (first, taps, weights)
    }

    private static func kernel(_ x: Double) -> Double {
        guard abs(x) < lobes else { return 0 }
        guard abs(x) > 1e-9 else { return 1 }
        let angle = Double.pi * x
        return lobes * sin(angle) * sin(angle / lobes) / (angle * angle)
    }
}
