import Foundation

/// An image decoded by `djpeg` or `ffmpeg`, to verify the product's output independently.
///
/// ```swift
/// let thumbnail = try TestImage(decoding: folder.path("thumbnail.jpg"))
/// #expect(thumbnail.width == 300)
/// #expect(thumbnail.color(atUnitX: 0.1, y: 0.1).distance(to: SampleMotif.colors[0]) < 6)
/// ```
public struct TestImage: Sendable {
    public let width: Int
    public let height: Int
    /// `width * height * 4` bytes: red, green, blue, alpha (not premultiplied).
    public let bytes: [UInt8]

    public init(width: Int, height: Int, bytes: [UInt8]) {
        precondition(bytes.count == width * height * 4, "an image has width x height x 4 bytes")
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    /// An image of one color.
    public init(width: Int, height: Int, filledWith color: TestColor) {
        let pixel = [color.red, color.green, color.blue].map { UInt8($0.rounded()) } + [255]
        self.init(width: width, height: height, bytes: Array(repeatElement(pixel, count: width * height).joined()))
    }

    /// Decodes an image, or a frame of a movie or of an animation (by number, from 0), with the `ffmpeg` command, or an
    /// intact JPEG of one or three components with `djpeg`, which starts 70 ms faster.
    ///
    /// A movie's frame is upright by its display matrix, in stored pixels. Color profiles are not applied.
    public init(decoding path: String, frame: Int = 0) throws {
        if frame == 0, let jpeg = try Self(decodingJPEG: path) {
            self = jpeg
            return
        }
        let command = RunCommand(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-i", path, "-map", "0:v:0", "-vf", "select=eq(n\\,\(frame))", "-vsync", "0",
                "-frames:v", "1", "-c:v", "pam", "-pix_fmt", "rgba", "-f", "image2pipe", "-",
            ])
        let result = try command.runBlocking()
        guard result.exitCode == 0, let image = Self(portableArbitraryMap: result.output) else {
            throw CommandError(description: "ffmpeg decoded no frame \(frame) of \(path): \(result.errorText)")
        }
        self = image
    }

    /// - Returns: Nil for a file that is not a JPEG, or that `djpeg` does not decode without a warning.
    private init?(decodingJPEG path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path), try file.read(upToCount: 3) == Data([0xff, 0xd8, 0xff])
        else { return nil }
        let result = try RunCommand("djpeg", ["-pnm", path]).runBlocking()
        guard result.exitCode == 0 else { return nil }
        self.init(portablePixmap: result.output)
    }

    /// Netpbm's PGM or PPM, as `djpeg` writes it: `P6`, width and height, and 255 on three lines, then the pixels.
    private init?(portablePixmap file: [UInt8]) {
        let lines = file.prefix(64).split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
        guard lines.count == 4, let depth = ["P5": 1, "P6": 3][String(decoding: lines[0], as: UTF8.self)],
            lines[2].elementsEqual("255".utf8)
        else { return nil }
        let size = String(decoding: lines[1], as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        let start = lines[3].startIndex
        guard size.count == 2, file.count - start == size[0] * size[1] * depth else { return nil }
        var pixels = [UInt8](repeating: 255, count: size[0] * size[1] * 4)
        for pixel in 0..<(size[0] * size[1]) {
            let sample = start + pixel * depth
            pixels[pixel * 4] = file[sample]
            pixels[pixel * 4 + 1] = file[sample + depth / 2]
            pixels[pixel * 4 + 2] = file[sample + depth - 1]
        }
        self.init(width: size[0], height: size[1], bytes: pixels)
    }

    /// Netpbm's PAM: a text header up to `ENDHDR`, then the pixels. It includes the size, so no probe is needed.
    private init?(portableArbitraryMap file: [UInt8]) {
        let mark = Array("ENDHDR\n".utf8)
        guard let end = file.firstRange(of: mark)?.upperBound else { return nil }
        var header: [Substring: Int] = [:]
        for line in String(decoding: file[..<end], as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count == 2 { header[fields[0]] = Int(fields[1]) }
        }
        guard let width = header["WIDTH"], let height = header["HEIGHT"], header["DEPTH"] == 4, header["MAXVAL"] == 255,
            file.count - end == width * height * 4
        else { return nil }
        self.init(width: width, height: height, bytes: Array(file[end...]))
    }

    /// The mean color of a small square (a fiftieth of each side) around a point of the unit square, origin top-left.
    public func color(atUnitX x: Double, y: Double) -> TestColor {
        let (left, right) = Self.span(around: x, of: width)
        let (top, bottom) = Self.span(around: y, of: height)
        return meanColor(left: left, top: top, right: right, bottom: bottom)
    }

    /// The mean alpha of that square: 0 is transparent, 255 opaque.
    public func alpha(atUnitX x: Double, y: Double) -> Double {
        let (left, right) = Self.span(around: x, of: width)
        let (top, bottom) = Self.span(around: y, of: height)
        var sum = 0
        for row in top..<bottom {
            for column in left..<right { sum += Int(bytes[(row * width + column) * 4 + 3]) }
        }
        return Double(sum) / Double((right - left) * (bottom - top))
    }

    /// The mean color of a rectangle of pixels, over middle gray where it is transparent.
    func meanColor(left: Int, top: Int, right: Int, bottom: Int) -> TestColor {
        var sums = (0.0, 0.0, 0.0)
        for row in top..<bottom {
            for column in left..<right {
                let index = (row * width + column) * 4
                let alpha = Double(bytes[index + 3]) / 255
                let gray = 128 * (1 - alpha)
                sums.0 += Double(bytes[index]) * alpha + gray
                sums.1 += Double(bytes[index + 1]) * alpha + gray
                sums.2 += Double(bytes[index + 2]) * alpha + gray
            }
        }
        let count = Double((right - left) * (bottom - top))
        return TestColor(red: sums.0 / count, green: sums.1 / count, blue: sums.2 / count)
    }

    private static func span(around unit: Double, of length: Int) -> (Int, Int) {
        let middle = min(max(Int(unit * Double(length)), 0), length - 1)
        let reach = length / 100
        return (max(middle - reach, 0), min(middle + reach + 1, length))
    }
}

extension Array where Element == UInt8 {
    /// The first range of `part`; the standard library's own search is quadratic on large arrays.
    fileprivate func firstRange(of part: [UInt8]) -> Range<Int>? {
        guard count >= part.count else { return nil }
        for start in 0...(count - part.count) where self[start] == part[0] {
            if self[start..<(start + part.count)].elementsEqual(part) { return start..<(start + part.count) }
        }
        return nil
    }
}

/// A color in sRGB, 0 to 255 per component, with its perceptual distance.
public struct TestColor: Sendable, Hashable {
    public let red: Double
    public let green: Double
    public let blue: Double

    public init(red: Double, green: Double, blue: Double) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// As in CSS: `0xd62728`.
    public init(hex: Int) {
        self.init(red: Double(hex >> 16 & 0xff), green: Double(hex >> 8 & 0xff), blue: Double(hex & 0xff))
    }

    /// CIE 1976 delta E: 2.3 is just noticeable, 10 is another shade, 50 another color.
    public func distance(to other: TestColor) -> Double {
        let (a, b) = (lab, other.lab)
        let (lightness, greenRed, blueYellow) = (a.0 - b.0, a.1 - b.1, a.2 - b.2)
        return (lightness * lightness + greenRed * greenRed + blueYellow * blueYellow).squareRoot()
    }

    /// L*, a*, b* under D65.
    private var lab: (Double, Double, Double) {
        let (r, g, b) = (Self.linear(red), Self.linear(green), Self.linear(blue))
        let x = Self.compressed((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047)
        let y = Self.compressed(0.2126 * r + 0.7152 * g + 0.0722 * b)
        let z = Self.compressed((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
        return (116 * y - 16, 500 * (x - y), 200 * (y - z))
    }

    private static func linear(_ component: Double) -> Double {
        let value = component / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func compressed(_ value: Double) -> Double {
        value > 0.008856 ? cbrt(value) : 7.787 * value + 16.0 / 116
    }
}
