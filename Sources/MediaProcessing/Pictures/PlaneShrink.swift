import JPEG

/// Makes a component smaller by a whole number, each square of samples becoming their mean: what a filter then works
/// on is as much less.
enum PlaneShrink {
    /// What has to be left to the filter: at half of it and less, squares are not seen in its result.
    private static let restMin = 2.0
    /// Sums of so many samples fit in 16 bits.
    static let factorMax = 256

    /// By how much a plane may be made smaller that is then filtered to that size; 1 for not at all. Pure.
    static func factor(of plane: JPEGPlane, width: Int, height: Int) -> Int {
        factor(from: (plane.width, plane.height), to: (width, height))
    }

    /// By how much a picture may be made smaller that is then filtered to that size; 1 for not at all. Pure.
    static func factor(from size: (width: Int, height: Int), to target: (width: Int, height: Int)) -> Int {
        let rest = min(Double(size.width) / Double(target.width), Double(size.height) / Double(target.height))
        return max(1, min(factorMax, Int(rest / restMin)))
    }

    /// The squares that hang over at the right and below have fewer samples.
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
                    for place in (column * factor)..<(isLast ? plane.width : (column + 1) * factor) {
                        sum &+= UInt32(sums[place])
                    }
                    unsafe target[row * width + column] = isLast ? lastMean.of(sum: sum) : mean.of(sum: sum)
                }
            }
            filled = width * height
        }
        return JPEGPlane(width: width, height: height, samples: samples)
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
