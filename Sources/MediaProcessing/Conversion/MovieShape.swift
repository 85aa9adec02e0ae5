import Foundation
import RichPush
import SafeArithmetic

/// Pixels of a movie as displayed: upright, square, both sides even.
struct MovieShape: Sendable, Hashable {
    let width: Int
    let height: Int

    /// The even size nearest to what a source shows, made smaller where it has to be; never larger.
    ///
    /// - Parameters:
    ///   - longSideMax: Pixels.
    ///   - shortSideMax: Pixels.
    // Bounded throughout: floating point.
    init(width: Double, height: Double, longSideMax: Int? = nil, shortSideMax: Int? = nil) {
        let (long, short) = (max(width, height), min(width, height))
        var scale = min(1, Double(longSideMax ?? .max) / long)
        scale = min(scale, Double(shortSideMax ?? .max) / short)
        self.width = Self.even(width * scale, max: width)
        self.height = Self.even(height * scale, max: height)
    }

    var shortSide: Int { min(width, height) }
    var longSide: Int { max(width, height) }
    var pixels: Int { width.multiplied(clamping: height) }
    var megapixels: Double { Double(pixels) / 1_000_000 }

    /// The same picture with another shorter side.
    func shrunk(toShortSide side: Int) -> MovieShape {
        MovieShape(width: Double(width), height: Double(height), shortSideMax: side)
    }

    /// This size and the usual ones below it, down to `Limits.movieShortSidePixelsFloor`, the largest first.
    var ladder: [MovieShape] {
        let sides = [
            2160, 1440, 1080, 900, 720, 600, 540, 480, 432, 360, 288, 240, 192, Limits.movieShortSidePixelsFloor,
        ]
        // Bounded: lists.
        return [self] + sides.filter { Double($0) < Double(shortSide) * 0.95 }.map(shrunk)
    }

    /// For sentences: 1280 x 720.
    var text: String { "\(width) x \(height)" }

    private static func even(_ side: Double, max source: Double) -> Int {
        let nearest = Int(clamping: (side / 2).rounded()).multiplied(clamping: 2)
        return max(2, Double(nearest) > source ? nearest.subtracting(clamping: 2) : nearest)
    }
}
