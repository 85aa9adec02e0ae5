import MediaLibraries
import SafeArithmetic

/// Finds the largest size of an image whose file fits, in few attempts.
struct SizeSearch {
    struct Found {
        let image: Image
        let bytes: [UInt8]
    }

    /// A file of at least this share of the limit is accepted.
    private static let nearShare = 0.92
    private static let aimShare = 0.96
    private static let triesMax = 7

    let bytesMax: Int
    /// The minimum longer side in pixels.
    let longSideMin: Int
    let pace: EncodingPace

    /// - Parameter known: Bytes of the file at full size.
    /// - Returns: Nil when the smallest size does not fit, or is not smaller than the image.
    func largest(_ image: Image, known: Int, encode: (Image) throws -> [UInt8]) throws -> Found? {
        let least = Double(longSideMin) / Double(max(image.width, image.height))
        guard least < 1 else { return nil }
        var sizes = SizePrediction(whole: Double(known))
        var (low, high) = (least, 1.0)
        var best: Found?
        for _ in 0..<Self.triesMax where high / low > 1.01 {
            let pixels = Int(clamping: Double(image.width) * Double(image.height) * high * high)
            if best != nil, !pace.allows(pixels: pixels) { break }
            let inner = best == nil ? low : low * 1.003
            let scale = min(max(sizes.scale(forBytes: Double(bytesMax) * Self.aimShare), inner), high * 0.997)
            let found = try attempt(image, scale: scale, encode)
            sizes.record(scale: scale, bytes: Double(found.bytes.count))
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

    private func attempt(_ image: Image, scale: Double, _ encode: (Image) throws -> [UInt8]) throws -> Found {
        let reduced = try image.scaled(by: scale)
        return Found(image: reduced, bytes: try pace.measure(reduced) { try encode(reduced) })
    }
}

/// Predicts the time of encoding from previous measurements, and compares it with the time that is left.
final class EncodingPace {
    /// Safety factor on the predicted time.
    private static let margin = 1.4

    let clock: WorkClock
    private var secondsPerPixel = 0.0
    /// Whether something was skipped because of time.
    private(set) var isShort = false

    init(_ clock: WorkClock) { self.clock = clock }

    /// Before anything was encoded, uses the time of decoding, which takes about as long.
    func record(pixels: Int) { secondsPerPixel = clock.secondsSpent / Double(max(1, pixels)) }

    /// Runs the work on an image and measures its time.
    func measure<Result>(_ image: Image, _ work: () throws -> Result) rethrows -> Result {
        let start = ContinuousClock.now
        let result = try work()
        secondsPerPixel = (start.duration(to: .now) / .seconds(1)) / Double(max(1, image.width * image.height))
        return result
    }

    /// Whether there is time for that image; `effort` is its cost as a multiple of the last measured work.
    func allows(_ image: Image, effort: Double = 1) -> Bool {
        allows(pixels: image.width * image.height, effort: effort)
    }

    /// The same by number of pixels.
    func allows(pixels: Int, effort: Double = 1) -> Bool {
        let isAllowed = Double(pixels) * secondsPerPixel * effort * Self.margin <= clock.secondsLeft
        if !isAllowed { isShort = true }
        return isAllowed
    }

    /// Pixels that can be encoded in half of the time that is left.
    var pixelsAllowed: Int {
        guard secondsPerPixel > 0 else { return .max }
        let pixels = max(0, clock.secondsLeft) / 2 / (secondsPerPixel * Self.margin)
        return pixels < 1e12 ? Int(clamping: pixels) : .max
    }
}
