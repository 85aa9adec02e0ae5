import Foundation

/// How many bytes a JPEG takes at which quality, from the tries that were made.
///
/// Bytes go with a power of the factor by which libjpeg multiplies its quantisation tables, so that their logarithms
/// lie near a straight line.
struct JPEGCurve {
    /// Before two tries are known: measured on photographs between quality 75 and 95.
    private static let usualSlope = -0.7

    private var points: [(factor: Double, bytes: Double)] = []

    mutating func learn(quality: Int, bytes: Double) {
        points.append((log(Self.factor(Double(quality))), log(max(1, bytes))))
    }

    func bytes(atQuality quality: Double) -> Double {
        let factor = log(Self.factor(quality))
        let (point, slope) = line(near: { abs($0.factor - factor) })
        return exp(point.bytes + slope * (factor - point.factor))
    }

    /// Not bounded by what the tables can do.
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

    /// libjpeg's percentage for a quality.
    private static func factor(_ quality: Double) -> Double {
        quality < 50 ? 5000 / max(1, quality) : max(1, 200 - 2 * min(quality, 100))
    }

    private static func quality(_ factor: Double) -> Double {
        factor > 100 ? 5000 / factor : (200 - factor) / 2
    }
}
