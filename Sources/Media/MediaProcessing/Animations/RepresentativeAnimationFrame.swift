import Foundation

/// Finds the most representative frame of an animation.
enum RepresentativeAnimationFrame {
    /// Frames that are scored, spread over the animation.
    private static let samplesMax = 10
    /// Longer side in pixels of the scored copy.
    private static let side = 160
    /// The share of the time that the search may take.
    private static let share = 0.35
    /// How much better a later frame must be than an earlier one.
    private static let gain = 1.1

    /// The frame number, from 0.
    static func number(in frames: any AnimationDecoder, clock: WorkClock) throws -> Int {
        let time = clock.share(share, until: clock.deadline)
        let step = max(1, frames.count / samplesMax)
        var best = (number: 0, score: -1.0)
        var number = 0
        while let frame = try frames.next() {
            if number % step == 0 {
                let score = score(frame, width: frames.width, height: frames.height)
                if score > best.score * gain { best = (number, score) }
                if time.secondsLeft <= 0 { break }
            }
            number += 1
        }
        return best.number
    }

    /// The score of a subsample of the frame, over gray where it is transparent.
    private static func score(_ frame: AnimationFrame, width: Int, height: Int) -> Double {
        let step = max(1, max(width, height) / side)
        var pixels: [UInt8] = []
        let (columns, rows) = ((width - 1) / step + 1, (height - 1) / step + 1)
        pixels.reserveCapacity(columns * rows * 3)
        for row in stride(from: 0, to: height, by: step) {
            for column in stride(from: 0, to: width, by: step) {
                let offset = (row * width + column) * 4
                let alpha = Int(frame.pixels[offset + 3])
                for band in 0..<3 {
                    let value = Int(frame.pixels[offset + band])
                    pixels.append(UInt8((value * alpha + 128 * (255 - alpha)) / 255))
                }
            }
        }
        return FrameScore(pixels: pixels, width: columns, height: rows, bands: 3).value
    }
}
