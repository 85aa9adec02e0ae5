import Foundation
import MediaLibraries
import SafeArithmetic

/// Chooses the quality of a JPEG that is made for a display, by what can be seen. Pure.
///
/// Fitted to photographs: at quality 76 with halved chroma, their SSIMULACRA2 falls with fine grain, more than with
/// edges, and a step of quality adds half a point (`docs/explanation/stills.md`).
enum DisplayQuality {
    /// The SSIMULACRA2 to reach: from 70 on, artifacts are hard to notice without the original beside it. The
    /// prediction is off by two points, so that this is a little more than the 75 that are wanted.
    private static let wantedScore = 76.5
    private static let range = 64.0...90.0
    /// For an image without an inside.
    private static let usual = 80

    /// The fit: the score at a quality, by the logarithms of the mean steps between samples and of their curvature.
    private static let fitted = (quality: 76.0, score: 81.8, steps: 6.6, curvature: -9.1, scorePerQuality: 0.52)
    /// Keeps the logarithm of a flat image in the range of the fit.
    private static let least = 0.5

    /// The quality, 1 to 100, for an image with this luma, in its final size.
    static func quality(of luma: JPEGPlane) -> Int {
        guard luma.width > 2, luma.height > 2 else { return usual }
        let (steps, curvature) = detail(of: luma)
        let score =
            fitted.score + fitted.steps * log(steps + least) + fitted.curvature * log(curvature + least)
        let quality = fitted.quality + (wantedScore - score) / fitted.scorePerQuality
        return Int(clamping: min(max(quality.rounded(), range.lowerBound), range.upperBound))
    }

    /// The means, over all inner samples, of the steps to the next sample and the next row together, and of how far a
    /// sample is from its four neighbors.
    private static func detail(of luma: JPEGPlane) -> (steps: Double, curvature: Double) {
        let (width, height) = (luma.width, luma.height)
        var (steps, curvature) = (0, 0)
        unsafe luma.samples.withUnsafeBufferPointer { samples in
            for row in 1..<(height - 1) {
                let start = row &* width
                // Bounded: a row has at most 65,500 samples, each of which adds at most 1,020.
                var (rowSteps, rowCurvature) = (Int32(0), Int32(0))
                for index in (start &+ 1)..<(start &+ width &- 1) {
                    let sample = unsafe Int16(samples[index])
                    let (left, right) = unsafe (Int16(samples[index &- 1]), Int16(samples[index &+ 1]))
                    let (above, below) = unsafe (Int16(samples[index &- width]), Int16(samples[index &+ width]))
                    let (across, down) = (right &- sample, below &- sample)
                    let bend = 4 &* sample &- left &- right &- above &- below
                    rowSteps &+= Int32((across < 0 ? 0 &- across : across) &+ (down < 0 ? 0 &- down : down))
                    rowCurvature &+= Int32(bend < 0 ? 0 &- bend : bend)
                }
                steps &+= Int(rowSteps)
                curvature &+= Int(rowCurvature)
            }
        }
        let count = Double((width - 2) * (height - 2))
        return (Double(steps) / count, Double(curvature) / count)
    }
}

extension HalvedChromaImage {
    /// As a JPEG for a display, and its quality.
    func displayJPEG() throws -> (bytes: [UInt8], quality: Int) {
        let quality = DisplayQuality.quality(of: luma)
        return (try jpeg(quality: quality), quality)
    }
}
