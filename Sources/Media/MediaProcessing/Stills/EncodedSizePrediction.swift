import Foundation

/// Predicts the encoded size of an image at a given scale from previous attempts.
struct SizePrediction {
    /// The usual exponent of bytes over side length: files grow more slowly than areas.
    private static let usualPower = 1.75

    private var tries: [(scale: Double, bytes: Double)]

    /// - Parameter bytes: Bytes of the image at full size.
    init(whole bytes: Double) { tries = [(1, max(1, bytes))] }

    mutating func record(scale: Double, bytes: Double) { tries.append((scale, max(1, bytes))) }

    /// The scale of both sides for a target size, from the two attempts nearest to it.
    func scale(forBytes target: Double) -> Double {
        let sorted = tries.sorted { abs(log($0.bytes / target)) < abs(log($1.bytes / target)) }
        let first = sorted[0]
        var power = Self.usualPower
        if sorted.count > 1, abs(log(sorted[1].scale / first.scale)) > 1e-3 {
            power = min(max(log(sorted[1].bytes / first.bytes) / log(sorted[1].scale / first.scale), 1), 2.5)
        }
        return first.scale * pow(target / first.bytes, 1 / power)
    }
}

/// Predicts the size of a JPEG at a given quality from previous attempts.
///
/// Size is about a power of the factor by which libjpeg scales its quantization tables, so their logarithms lie near a
/// straight line.
struct JPEGCurve {
    /// The slope assumed before two attempts exist: measured on photographs between quality 75 and 95.
    private static let usualSlope = -0.7

    private var points: [(factor: Double, bytes: Double)] = []

    mutating func record(quality: Int, bytes: Double) {
        points.append((log(Self.factor(Double(quality))), log(max(1, bytes))))
    }

    func bytes(atQuality quality: Double) -> Double {
        let factor = log(Self.factor(quality))
        let (point, slope) = line(near: { abs($0.factor - factor) })
        return exp(point.bytes + slope * (factor - point.factor))
    }

    /// Not limited to valid qualities.
    func quality(forBytes bytes: Double) -> Double {
        let wanted = log(max(1, bytes))
        let (point, slope) = line(near: { abs($0.bytes - wanted) })
        return Self.quality(exp(point.factor + (wanted - point.bytes) / slope))
    }

    /// The nearest point, and the slope from it to the next nearest.
    private func line(near distance: ((factor: Double, bytes: Double)) -> Double)
        -> (point: (factor: Double, bytes: Double), slope: Double)
    {
        let sorted = points.sorted { distance($0) < distance($1) }
        guard let first = sorted.first else { preconditionFailure("a curve has a point") }
        guard sorted.count > 1, abs(sorted[1].factor - first.factor) > 1e-6 else { return (first, Self.usualSlope) }
        let slope = (sorted[1].bytes - first.bytes) / (sorted[1].factor - first.factor)
        return (first, min(max(slope, -1.5), -0.3))
    }

    /// libjpeg's scaling percentage for a quality.
    private static func factor(_ quality: Double) -> Double {
        quality < 50 ? 5000 / max(1, quality) : max(1, 200 - 2 * min(quality, 100))
    }

    private static func quality(_ factor: Double) -> Double {
        factor > 100 ? 5000 / factor : (200 - factor) / 2
    }
}
