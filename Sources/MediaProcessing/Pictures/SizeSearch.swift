import SafeArithmetic
import Vips

/// The largest size of a picture whose file fits, found in few tries.
struct SizeSearch {
    struct Found {
        let picture: Picture
        let bytes: [UInt8]
    }

    /// A file within these hundredths of the limit is near enough.
    private static let nearShare = 0.92
    private static let aimShare = 0.96
    private static let triesMax = 7

    let bytesMax: Int
    /// Pixels of the longer side; nothing smaller is tried.
    let longSideMin: Int
    let pace: EncodingPace

    /// - Parameter known: Bytes of the whole picture's file.
    /// - Returns: Nil when the least size does not fit, or is not smaller than the picture.
    func largest(_ picture: Picture, known: Int, encode: (Picture) throws -> [UInt8]) throws -> Found? {
        let least = Double(longSideMin) / Double(max(picture.width, picture.height))
        guard least < 1 else { return nil }
        var sizes = SizePrediction(whole: Double(known))
        var (low, high) = (least, 1.0)
        var best: Found?
        // Bounded: floating point.
        for _ in 0..<Self.triesMax where high / low > 1.01 {
            // Bounded: floating point.
            let pixels = Int(clamping: Double(picture.width) * Double(picture.height) * high * high)
            if best != nil, !pace.allows(pixels: pixels) { break }
            let inner = best == nil ? low : low * 1.003
            let scale = min(max(sizes.scale(forBytes: Double(bytesMax) * Self.aimShare), inner), high * 0.997)
            let found = try attempt(picture, scale, encode)
            sizes.learn(scale: scale, bytes: Double(found.bytes.count))
            if found.bytes.count > bytesMax {
                if scale <= least { return nil }
                high = scale
            } else {
                (best, low) = (found, scale)
                if Double(found.bytes.count) >= Double(bytesMax) * Self.nearShare { break }
            }
        }
        return best
    }

    private func attempt(_ picture: Picture, _ scale: Double, _ encode: (Picture) throws -> [UInt8]) throws -> Found {
        let reduced = try picture.scaled(by: scale)
        return Found(picture: reduced, bytes: try pace.measure(reduced) { try encode(reduced) })
    }
}
