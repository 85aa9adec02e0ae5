/// The picture of an animation that stands best for it.
enum RepresentativePicture {
    /// Pictures that are looked at, spread over the animation.
    private static let looks = 10
    /// Pixels of the longer side of what is looked at.
    private static let side = 160
    /// The part of the time that looking for it may take.
    private static let share = 0.35
    /// What an animation loops back to is as good as any: another has to be so much better.
    private static let gain = 1.1

    /// Its number, from 0.
    static func number(in frames: any FrameSequence, clock: WorkClock) throws -> Int {
        let time = clock.share(share, until: clock.deadline)
        // Bounded: ten.
        let step = max(1, frames.count / looks)
        var best = (number: 0, score: -1.0)
        var number = 0
        while let frame = try frames.next() {
            // Bounded: by at least 1.
            if number % step == 0 {
                let score = score(frame, width: frames.width, height: frames.height)
                // Bounded: floating point.
                if score > best.score * gain { best = (number, score) }
                if time.secondsLeft <= 0 { break }
            }
            number += 1
        }
        return best.number
    }

    /// Of some of its pixels, laid on grey where it is transparent.
    // Bounded throughout: places in a picture of `width` x `height` pixels, 8 bits times 8 bits.
    private static func score(_ frame: SequenceFrame, width: Int, height: Int) -> Double {
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
