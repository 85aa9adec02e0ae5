import JPEG

/// Reduces components of a picture, all to one size: 8 bits a sample, rows without padding.
///
/// Both directions go through the same loop over whole rows, many samples at a time: between them the plane lies on its
/// side.
struct PlaneReduction {
    /// A line of the processor's cache, in four sums that do not wait for each other.
    private typealias Lanes = SIMD16<Float>

    /// Pixels of a picture that are filtered at once: 4 bytes a sample, before and after, are 64 MB. What is larger
    /// (a thumbnail of thousands of pixels) goes through libvips, which holds rows alone.
    static let pixelsMax = 8_000_000

    let width: Int
    let height: Int
    /// By the length of the line; the planes of a picture are mostly of one size.
    private var filters: [Line: LanczosFilter] = [:]

    private struct Line: Hashable {
        let count: Int
        let target: Int
        let span: Double
    }

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
    }

    /// The samples column by column: the plane still lies on its side.
    ///
    /// - Parameter factor: By how much the plane was made smaller; the last of its samples may stand for less.
    /// - Parameter stored: The size it had before that.
    mutating func columns(of plane: JPEGPlane, factor: Int = 1, stored: (width: Int, height: Int)? = nil) -> [UInt8] {
        let spans = stored.map { (Double($0.width) / Double(factor), Double($0.height) / Double(factor)) }
        let down = filter(from: plane.height, to: height, span: spans?.1 ?? Double(plane.height))
        let lower = Self.reduceRows(Self.numbers(plane.samples), rowLength: plane.width, by: down)
        let lying = Self.onItsSide(lower, rowLength: plane.width, rows: height)
        let across = filter(from: plane.width, to: width, span: spans?.0 ?? Double(plane.width))
        return Self.samples(Self.reduceRows(lying, rowLength: height, by: across), count: width * height)
    }

    /// The same of a plane that is much larger, made smaller first.
    mutating func columns(ofLarge plane: JPEGPlane) -> [UInt8] {
        let factor = PlaneShrink.factor(of: plane, width: width, height: height)
        return columns(
            of: PlaneShrink.shrink(plane, by: factor), factor: factor, stored: (plane.width, plane.height))
    }

    private mutating func filter(from count: Int, to target: Int, span: Double) -> LanczosFilter {
        let line = Line(count: count, target: target, span: span)
        if let known = filters[line] { return known }
        let filter = LanczosFilter(from: count, to: target, span: span)
        filters[line] = filter
        return filter
    }

    /// Room behind the last sample: the loops take the samples of a row sixteen by sixteen.
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

    /// Rounded, and brought back to what a byte holds: the filter's lobes swing over.
    private static func samples(_ numbers: [Float], count: Int) -> [UInt8] {
        // At this size the digits of a number that stand before the point are the last ones it has room for.
        let pointAtTheEnd: Float = 8_388_608
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            unsafe numbers.withUnsafeBufferPointer { numbers in
                for index in 0..<count {
                    let number = unsafe numbers[index]
                    let positive = number > 0 ? number : 0
                    let bounded = positive < 255 ? positive : 255
                    unsafe bytes[index] = UInt8(truncatingIfNeeded: (bounded + pointAtTheEnd).bitPattern)
                }
            }
            filled = count
        }
    }

    /// Rows that are each made of several.
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

    /// One row; what is written past its end belongs to the next one, which comes later.
    @inline(__always)
    private static func reduce(
        _ source: UnsafeRawPointer, rowLength: Int, weights: UnsafePointer<Float>, taps: Int,
        to target: UnsafeMutableRawPointer
    ) {
        let step = rowLength &* MemoryLayout<Float>.stride
        var column = 0
        while column < step {
            var sum = Lanes.zero
            var place = unsafe source + column
            for tap in 0..<taps {
                unsafe sum += place.loadUnaligned(as: Lanes.self) * weights[tap]
                unsafe place += step
            }
            unsafe (target + column).storeBytes(of: sum, as: Lanes.self)
            column &+= MemoryLayout<Lanes>.size
        }
    }

    /// Columns as rows.
    private static func onItsSide(_ source: [Float], rowLength: Int, rows: Int) -> [Float] {
        // In squares, so that neither side is read or written far apart.
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
