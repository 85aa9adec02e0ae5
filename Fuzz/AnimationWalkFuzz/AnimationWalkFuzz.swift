import FuzzSupport
import RichPush
import WalkSupport

@testable import MediaProcessing

/// Fuzzes the walks over animations: blocks, chunks, boxes.
@main enum AnimationWalkFuzz {
    static func main() {
        let file = WalkedFile(noun: "animation")
        FuzzTarget.run { input in
            var input = input
            let walk = walks[Int(input.byte()) % walks.count]
            try file.check(input.rest(), walk)
        }
    }

    private static let walks: [@Sendable (ByteWindow) throws -> AnyHashable] = [
        { window in
            let walk = try GIFParser.walk(window)
            // A separator, a position, a code size and the end of the data.
            check(walk.frames, of: 12, in: window)
            checkTime(walk.duration, walk.loopCount)
            try decode(walk, window)
            return walk
        },
        { window in
            let walk = try PNGParser.walk(window)
            check(walk.delaysMilliseconds.count, of: 38, in: window)
            checkTime(walk.duration, walk.loopCount)
            return walk
        },
        frames,
        { window in
            let walk = try WebPParser.walk(window)
            check(walk.delaysMilliseconds.count, of: 24, in: window)
            checkTime(walk.duration, walk.loopCount)
            return walk
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
    private static func decode(_ walk: GIFParser, _ window: ByteWindow) throws {
        guard walk.width * walk.height * walk.frames <= 100_000 else { return }
        let frames = try GIFDecoder(window, deadline: .now + .seconds(60))
        let single = try GIFDecoder(window, deadline: .now + .seconds(60))
        for number in 0..<walk.frames {
            guard let frame = try frames.next() else { Invariant.broken("the number of frames equals that of blocks") }
            var rows: [UInt8] = []
            try unsafe single.readRows(of: number) { unsafe rows.append(contentsOf: $0) }
            let samples = try single.samples(of: number)
            let wanted = frame.pixels.enumerated().filter { $0.offset % 4 < samples }.map(\.element)
            Invariant.hold(rows == wanted, "frame \(number) is the same both ways")
        }
    }

    private static func frames(_ window: ByteWindow) throws -> AnyHashable {
        let chunks = try PNGParser.walk(window)
        let walk = try APNGParser.walk(window, width: chunks.width, height: chunks.height)
        for frame in walk.frames {
            Invariant.hold(
                frame.left >= 0 && frame.top >= 0 && frame.left + frame.width <= chunks.width
                    && frame.top + frame.height <= chunks.height, "a frame is on the canvas")
            for range in frame.data {
                Invariant.hold(range.lowerBound >= 0 && range.upperBound <= window.size, "data is inside the file")
            }
        }
        if chunks.isAnimated {
            Invariant.hold(walk.frames.count == chunks.frames, "both walks count the same frames")
        }
        Invariant.hold(walk.shared.count <= window.size, "shared data is inside the file")
        return walk.frames.count
    }
}
