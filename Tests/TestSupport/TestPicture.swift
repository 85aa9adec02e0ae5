import Foundation

/// A picture decoded by a program that is not ours, to hold our output against.
///
/// ```swift
/// let thumbnail = try TestPicture(decoding: folder.path("thumbnail.jpg"))
/// #expect(thumbnail.width == 300)
/// #expect(thumbnail.colour(atUnitX: 0.1, y: 0.1).distance(to: SampleMotif.colours[0]) < 6)
/// ```
public struct TestPicture: Sendable {
    public let width: Int
    public let height: Int
    /// `width * height * 4` bytes: red, green, blue, alpha (not premultiplied).
    public let bytes: [UInt8]

    public init(width: Int, height: Int, bytes: [UInt8]) {
        precondition(bytes.count == width * height * 4, "a picture holds width x height x 4 bytes")
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    /// A picture of one colour.
    public init(width: Int, height: Int, filledWith colour: TestColour) {
        let pixel = [colour.red, colour.green, colour.blue].map { UInt8($0.rounded()) } + [255]
        self.init(width: width, height: height, bytes: Array(repeatElement(pixel, count: width * height).joined()))
    }

    /// Decodes a picture, or a frame of a movie or of an animation (by number, from 0), with the `ffmpeg` command.
    ///
    /// A movie's frame is upright by its display matrix, in stored pixels. Colour profiles are not applied.
    public init(decoding path: String, frame: Int = 0) throws {
        let command = RunCommand(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-i", path, "-map", "0:v:0", "-vf", "select=eq(n\\,\(frame))", "-vsync", "0",
                "-frames:v", "1", "-c:v", "pam", "-pix_fmt", "rgba", "-f", "image2pipe", "-",
            ])
        let result = try command.runBlocking()
        guard result.exitCode == 0, let picture = Self(portableArbitraryMap: result.output) else {
            throw CommandFailure(description: "ffmpeg gave no frame \(frame) of \(path): \(result.errorText)")
        }
        self = picture
    }

    /// Netpbm's PAM: a text header up to `ENDHDR`, then the pixels. It carries the size, so nobody has to probe first.
    private init?(portableArbitraryMap file: [UInt8]) {
        let mark = Array("ENDHDR\n".utf8)
        guard let end = file.firstRange(of: mark)?.upperBound else { return nil }
        var header: [Substring: Int] = [:]
        for line in String(decoding: file[..<end], as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { header[words[0]] = Int(words[1]) }
        }
        guard let width = header["WIDTH"], let height = header["HEIGHT"], header["DEPTH"] == 4, header["MAXVAL"] == 255,
            file.count - end == width * height * 4
        else { return nil }
        self.init(width: width, height: height, bytes: Array(file[end...]))
    }

    /// The mean colour of a small square (a fiftieth of each side) around a point of the unit square, origin top-left.
    public func colour(atUnitX x: Double, y: Double) -> TestColour {
        let (left, right) = Self.span(around: x, of: width)
        let (top, bottom) = Self.span(around: y, of: height)
        return meanColour(left: left, top: top, right: right, bottom: bottom)
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

    /// The mean colour of a rectangle of pixels, laid on middle grey where it is transparent.
    func meanColour(left: Int, top: Int, right: Int, bottom: Int) -> TestColour {
        var sums = (0.0, 0.0, 0.0)
        for row in top..<bottom {
            for column in left..<right {
                let index = (row * width + column) * 4
                let alpha = Double(bytes[index + 3]) / 255
                let grey = 128 * (1 - alpha)
                sums.0 += Double(bytes[index]) * alpha + grey
                sums.1 += Double(bytes[index + 1]) * alpha + grey
                sums.2 += Double(bytes[index + 2]) * alpha + grey
            }
        }
        let count = Double((right - left) * (bottom - top))
        return TestColour(red: sums.0 / count, green: sums.1 / count, blue: sums.2 / count)
    }

    private static func span(around unit: Double, of length: Int) -> (Int, Int) {
        let middle = min(max(Int(unit * Double(length)), 0), length - 1)
        let reach = length / 100
        return (max(middle - reach, 0), min(middle + reach + 1, length))
    }
}

extension Array where Element == UInt8 {
    /// Where `part` begins for the first time; the standard library's own search is quadratic on large arrays.
    fileprivate func firstRange(of part: [UInt8]) -> Range<Int>? {
        guard count >= part.count else { return nil }
        for start in 0...(count - part.count) where self[start] == part[0] {
            if self[start..<(start + part.count)].elementsEqual(part) { return start..<(start + part.count) }
        }
        return nil
    }
}
