import FuzzSupport
import RichPush

@testable import MediaProcessing

/// Our GIF encoder with any frames and settings: what it writes has to be a GIF of these frames.
@main enum GIFEncoderFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            let (width, height) = (input.number(in: 1...24), input.number(in: 1...24))
            let count = input.number(in: 1...5)
            var settings = GIFSettings()
            settings.colours = input.number(in: 2...256)
            settings.exactness = GIFExactness(level: Double(input.byte() % 32) / 2)
            let loops = input.number(in: 0...65_535)
            let drops = input.byte() % 4 == 0
            let pixels = input.rest()
            let frames = (0..<count).map { frame(pixels, number: $0, bytes: width * height * 4) }
            check(frames, width, height, loops: loops, settings, drops: drops)
        }
    }

    /// Few bytes make a whole frame: they are repeated, each time a little turned.
    private static func frame(_ pixels: [UInt8], number: Int, bytes: Int) -> [UInt8] {
        guard !pixels.isEmpty else { return [UInt8](repeating: 255, count: bytes) }
        return (0..<bytes).map { pixels[($0 + $0 / pixels.count * 3 + number * 7) % pixels.count] }
    }

    private static func check(
        _ frames: [[UInt8]], _ width: Int, _ height: Int, loops: Int, _ settings: GIFSettings, drops: Bool
    ) {
        var encoder = GIFEncoder(width: width, height: height, loopCount: loops, settings: settings)
        for frame in frames { encoder.add(frame, hundredths: 5) }
        var bytes = encoder.finish()
        var count = frames.count
        if drops, encoder.dropLast() {
            bytes = encoder.bytes + GIFBlocks.trailer
            count -= 1
        }
        guard let walk = try? GIFWalk.walk(ByteWindow(bytes: bytes, noun: "GIF")) else {
            Invariant.broken("what is written walks")
        }
        Invariant.hold(walk.frames == count && walk.width == width && walk.height == height, "frames and canvas stay")
        let decoder = GIFReader(bytes)
        let shown = decoder.frames(width: width, height: height)
        Invariant.hold(shown.count == count, "\(shown.count) of \(count) frames decode")
        guard settings.exactness.isExact, settings.colours == 256, width * height <= 255 else { return }
        for (shown, frame) in zip(shown, frames) {
            Invariant.hold(shown == IndexedColour.pixels(of: frame), "few colours are written exactly")
        }
    }
}
