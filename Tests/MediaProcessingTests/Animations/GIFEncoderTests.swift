import Foundation
import TestSupport
import Testing

@testable import MediaProcessing

@Suite struct GIFEncoderTests {
    private static func pixels(_ width: Int, _ height: Int, _ color: (Int, Int) -> [UInt8]) -> [UInt8] {
        (0..<height).flatMap { y in (0..<width).flatMap { x in color(x, y) } }
    }

    /// Writes frames and reads them back with FFmpeg.
    private static func written(
        _ frames: [[UInt8]], width: Int, height: Int, settings: GIFSettings = GIFSettings(), hundredths: Int = 10
    ) throws -> (bytes: [UInt8], path: String, frames: [[UInt8]]) {
        var encoder = GIFEncoder(width: width, height: height, loopCount: 0, settings: settings)
        for frame in frames { encoder.add(frame, hundredths: hundredths) }
        let bytes = encoder.finish()
        let path = try GeneratedMedia.file("encoded.gif", bytes: bytes).path
        return (bytes, path, try RenderedAnimation.frames(of: path))
    }

    private static func noise(_ width: Int, _ height: Int, colors: Int, seed: UInt64) -> [UInt8] {
        var state = seed
        return pixels(width, height) { _, _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let number = Int(state >> 40) % colors
            return [UInt8(number * 7 % 256), UInt8(number * 31 % 256), UInt8(number / 16 * 16 % 256), 255]
        }
    }

    @Test func `Frames of 200 colors are lossless when the LZW dictionary fills up`() throws {
        let frames = (1...3).map { Self.noise(100, 90, colors: 200, seed: $0) }
        let written = try Self.written(frames, width: 100, height: 90)
        #expect(written.frames == frames)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 16, 17, 129, 255, 256])
    func `Palettes of every size are lossless`(colors: Int) throws {
        let frame = Self.pixels(16, 16) { x, y in [UInt8((y * 16 + x) % colors), 7, 200, 255] }
        #expect(try Self.written([frame], width: 16, height: 16).frames == [frame])
    }

    @Test func `Pixels that become transparent are cleared before the next frame`() throws {
        let frames = (0..<4).map { number in
            Self.pixels(32, 16) { x, y in
                (number * 6..<number * 6 + 8).contains(x) && (4..<12).contains(y) ? [200, 30, 40, 255] : [0, 0, 0, 0]
            }
        }
        let written = try Self.written(frames, width: 32, height: 16)
        for (frame, original) in zip(written.frames, frames) {
            for index in stride(from: 0, to: frame.count, by: 4) {
                #expect(frame[index + 3] == original[index + 3])
                if original[index + 3] == 255 {
                    #expect(Array(frame[index..<index + 3]) == Array(original[index..<index + 3]))
                }
            }
        }
    }

    @Test func `Only the changed area of a frame is written`() throws {
        let frames = (0..<3).map { number in
            Self.pixels(64, 64) { x, y in x == number && y == 9 ? [255, 255, 255, 255] : [UInt8(x), UInt8(y), 0, 255] }
        }
        let written = try Self.written(frames, width: 64, height: 64)
        let sizes = try RunCommand("identify", ["-format", "%wx%h%O\n", written.path]).runBlocking().lines
        #expect(sizes == ["64x64+0+0", "2x1+0+9", "2x1+1+9"])
    }

    @Test func `An unchanged frame is still written as a frame`() throws {
        let frame = Self.noise(20, 20, colors: 9, seed: 3)
        let written = try Self.written([frame, frame, frame], width: 20, height: 20)
        let delays = try RunCommand("identify", ["-format", "%T\n", written.path]).runBlocking().lines
        #expect(delays == ["10", "10", "10"])
    }

    @Test(arguments: [4.0, 12, 24])
    func `No pixel differs by more than the tolerance in any frame`(level: Double) throws {
        let frames = (0..<6).map { number in
            Self.pixels(40, 30) { x, y in
                [UInt8(40 + (x + number * 3) % 16 * 4), UInt8(60 + y * 2), UInt8(100 + number * 3), 255]
            }
        }
        var settings = GIFSettings()
        settings.exactness = GIFExactness(level: level)
        let written = try Self.written(frames, width: 40, height: 30, settings: settings)
        // The error of the palette is added to the tolerance.
        let distanceMax = Double(PackedColor.distanceScale) * (level + 6) * (level + 6)
        for (frame, original) in zip(written.frames, frames) {
            let distances = zip(PackedColor.pixels(of: frame), PackedColor.pixels(of: original)).map {
                $0.distance(to: $1)
            }
            #expect(Double(distances.max() ?? 0) <= distanceMax)
        }
    }

    @Test func `A higher tolerance gives a smaller file`() throws {
        let frames = (1...3).map { Self.noise(40, 40, colors: 150, seed: $0) }
        let sizes = try [0.0, 10, 20, 30].map { level in
            var settings = GIFSettings()
            settings.exactness = GIFExactness(level: level)
            return try Self.written(frames, width: 40, height: 40, settings: settings).bytes.count
        }
        #expect(sizes == sizes.sorted(by: >))
    }

    @Test func `The palette does not exceed the requested number of colors`() throws {
        var settings = GIFSettings()
        settings.colors = 32
        let frame = Self.pixels(64, 64) { x, y in [UInt8(x * 4), UInt8(y * 4), 128, 255] }
        let written = try Self.written([frame], width: 64, height: 64, settings: settings)
        #expect(Set(PackedColor.pixels(of: written.frames[0])).count <= 32)
    }

    @Test func `FFmpeg and ImageMagick decode the file without warnings`() throws {
        let frames = (1...4).map { Self.noise(70, 60, colors: 256, seed: $0) }
        let written = try Self.written(frames, width: 70, height: 60)
        for command in [
            ["ffmpeg", "-v", "warning", "-i", written.path, "-f", "null", "-"], ["identify", written.path],
        ] {
            let result = try RunCommand(command[0], Array(command.dropFirst())).runBlocking()
            #expect(result.exitCode == 0 && result.errorText == "")
        }
    }

    @Test func `Dropping the last frames keeps their duration`() throws {
        var encoder = GIFEncoder(width: 8, height: 8, loopCount: 1, settings: GIFSettings())
        for seed in 1...4 { encoder.add(Self.noise(8, 8, colors: 9, seed: UInt64(seed)), hundredths: 10) }
        _ = encoder.finish()
        #expect(encoder.dropLast() && encoder.dropLast())
        let path = try GeneratedMedia.file("shorter.gif", bytes: encoder.finish()).path
        let delays = try RunCommand("identify", ["-format", "%T\n", path]).runBlocking().lines
        #expect(delays == ["10", "30"])
    }
}
