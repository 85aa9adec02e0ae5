import FuzzSupport
import MediaProcessing
import WalkSupport

/// Fuzzes the walks over audio files: frames, chunks, pages, and tags.
@main enum SoundWalkFuzz {
    static func main() {
        let file = WalkedFile(noun: "audio file")
        FuzzTarget.run { input in
            var input = input
            let walk = walks[Int(input.byte()) % walks.count]
            try file.check(input.rest(), walk)
        }
    }

    private static let walks: [@Sendable (ByteWindow) throws -> AnyHashable] = [
        mp3, adts, wave,
        { try done(AIFFValidator.check($0)) },
        { try done(OggValidator.check($0)) },
    ]

    private static func wave(_ window: ByteWindow) throws -> AnyHashable {
        let walk = try WaveParser.walk(window)
        Invariant.hold(walk.frameBytes > 0, "\(walk.frameBytes) bytes of all channels")
        if let chunk = walk.openChunk { Invariant.hold(chunk + 8 < window.size, "\(chunk) in \(window.size)") }
        return walk
    }

    /// The smallest MP3 frame in bytes, at the lowest bit rate and shortest frame.
    private static let mp3FrameBytesMin = 24

    private static func mp3(_ window: ByteWindow) throws -> AnyHashable {
        let walk = try MP3Parser.walk(window)
        Invariant.hold(walk.frames * mp3FrameBytesMin <= window.size, "\(walk.frames) MP3 frames in \(window.size)")
        return walk
    }

    private static func adts(_ window: ByteWindow) throws -> AnyHashable {
        let walk = try ADTSParser.walk(window)
        Invariant.hold(walk.frames * 7 + walk.junkBytes <= window.size, "\(walk.frames) ADTS frames in \(window.size)")
        return walk
    }

    private static func done(_ walk: ()) -> AnyHashable { true }
}
