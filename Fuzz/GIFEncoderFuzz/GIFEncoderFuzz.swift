import FuzzSupport
import MediaTypes

@testable import MediaProcessing

/// Fuzzes the GIF encoder: its output must be a GIF of the given frames.
@main enum GIFEncoderFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            let (width, height) = (input.number(in: 1...24), input.number(in: 1...24))
            let count = input.number(in: 1...5)
            var settings = GIFSettings()
            settings.colors = input.number(in: 2...256)
            settings.exactness = GIFExactness(level: Double(input.byte() % 32) / 2)
            let loops = input.number(in: 0...65_535)
            let drops = input.byte() % 4 == 0
            let pixels = input.rest()
            let frames = (0..<count).map { frame(pixels, number: $0, bytes: width * height * 4) }
            check(frames, width, height, loops: loops, settings, drops: drops)
        }
    }

    /// Fills a frame from a few bytes, repeated with an offset.
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
        guard let parser = try? GIFParser.parse(ByteWindow(bytes: bytes, noun: "GIF")) else {
            Invariant.broken("the output can be parsed")
        }
        Invariant.hold(
            parser.frames == count && parser.width == width && parser.height == height, "same size and frames")
        let decoder = GIFReader(bytes)
        let shown = decoder.frames(width: width, height: height)
        Invariant.hold(shown.count == count, "\(shown.count) of \(count) frames decode")
        guard settings.exactness.isExact, settings.colors == 256, width * height <= 255 else { return }
        for (shown, frame) in zip(shown, frames) {
            Invariant.hold(shown == PackedColor.pixels(of: frame), "few colors are encoded exactly")
        }
    }
}
