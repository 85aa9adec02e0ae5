import FuzzSupport
import MediaTypes
import ParserSupport

@testable import MediaProcessing

/// Fuzzes the parsers of animations: blocks, chunks, boxes.
@main enum AnimationParserFuzz {
    static func main() {
        let file = ParsedFile(noun: "animation")
        FuzzTarget.run { input in
            var input = input
            let parser = parsers[Int(input.byte()) % parsers.count]
            try file.check(input.rest(), parser)
        }
    }

    private static let parsers: [@Sendable (ByteWindow) throws -> AnyHashable] = [
        { window in
            let parser = try GIFParser.parse(window)
            // A separator, a position, a code size and the end of the data.
            check(parser.frames, of: 12, in: window)
            checkTime(parser.duration, parser.loopCount)
            try decode(parser, window)
            return parser
        },
        { window in
            let parser = try PNGParser.parse(window)
            check(parser.delaysMilliseconds.count, of: 38, in: window)
            checkTime(parser.duration, parser.loopCount)
            return parser
        },
        frames,
        { window in
            let parser = try WebPParser.parse(window)
            check(parser.delaysMilliseconds.count, of: 24, in: window)
            checkTime(parser.duration, parser.loopCount)
            return parser
        },
        { window in
            let count = try AVIFLoopCount.count(window)
            Invariant.hold(count >= 0, "no count is negative")
            return count
        },
    ]

    private static func check(_ frames: Int, of bytes: Int, in window: ByteWindow) {
        Invariant.hold(frames <= Limits.animationFramesMax, "frames are bounded")
        Invariant.hold(frames * bytes <= window.size, "\(frames) frames of at least \(bytes) in \(window.size)")
    }

    private static func checkTime(_ seconds: Double, _ loops: Int) {
        Invariant.hold(seconds >= 0 && seconds.isFinite && loops >= 0, "duration and loop count are not negative")
    }

    /// A frame decoded alone must equal the same frame decoded in sequence.
    private static func decode(_ parser: GIFParser, _ window: ByteWindow) throws {
        guard parser.width * parser.height * parser.frames <= 100_000 else { return }
        let frames = try GIFDecoder(window, deadline: .now + .seconds(60))
        let single = try GIFDecoder(window, deadline: .now + .seconds(60))
        for number in 0..<parser.frames {
            guard let frame = try frames.next() else { Invariant.broken("the number of frames equals that of blocks") }
            var rows: [UInt8] = []
            try unsafe single.readRows(of: number) { unsafe rows.append(contentsOf: $0) }
            let samples = try single.samples(of: number)
            let wanted = frame.pixels.enumerated().filter { $0.offset % 4 < samples }.map(\.element)
            Invariant.hold(rows == wanted, "frame \(number) is the same both ways")
        }
    }

    private static func frames(_ window: ByteWindow) throws -> AnyHashable {
        let chunks = try PNGParser.parse(window)
        let parser = try APNGParser.parse(window, width: chunks.width, height: chunks.height)
        for frame in parser.frames {
            Invariant.hold(
                frame.left >= 0 && frame.top >= 0 && frame.left + frame.width <= chunks.width
                    && frame.top + frame.height <= chunks.height, "a frame is on the canvas")
            for range in frame.data {
                Invariant.hold(range.lowerBound >= 0 && range.upperBound <= window.size, "data is inside the file")
            }
        }
        if chunks.isAnimated {
            Invariant.hold(parser.frames.count == chunks.frames, "both parsers count the same frames")
        }
        Invariant.hold(parser.shared.count <= window.size, "shared data is inside the file")
        return parser.frames.count
    }
}
