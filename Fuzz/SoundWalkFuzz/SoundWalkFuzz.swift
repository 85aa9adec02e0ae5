import FuzzSupport
import MediaProcessing
import WalkSupport

/// The walks over sounds: frames, chunks, pages, and the tags between them.
@main enum SoundWalkFuzz {
    static func main() {
        let file = WalkedFile(noun: "sound")
        FuzzTarget.run { input in
            var input = input
            let walk = walks[Int(input.byte()) % walks.count]
            try file.check(input.rest(), walk)
        }
    }

    private static let walks: [@Sendable (ByteWindow) throws -> AnyHashable] = [
        mp3, adts, wave,
        { try done(AIFFWalk.check($0)) },
        { try done(OggWalk.check($0)) },
    ]

    private static func wave(_ window: ByteWindow) throws -> AnyHashable {
        let walk = try WaveWalk.walk(window)
        Invariant.hold(walk.frameBytes > 0, "\(walk.frameBytes) bytes of all channels")
        if let chunk = walk.openChunk { Invariant.hold(chunk + 8 < window.size, "\(chunk) in \(window.size)") }
        return walk
    }

    /// No rate is so low and no frame so short that one has fewer bytes.
    private static let mp3FrameBytesMin = 24

    private static func mp3(_ window: ByteWindow) throws -> AnyHashable {
        let walk = try MP3Walk.walk(window)
        Invariant.hold(walk.frames * mp3FrameBytesMin <= window.size, "\(walk.frames) MP3 frames in \(window.size)")
        return walk
    }

    private static func adts(_ window: ByteWindow) throws -> AnyHashable {
        let walk = try ADTSWalk.walk(window)
        Invariant.hold(walk.frames * 7 + walk.junkBytes <= window.size, "\(walk.frames) ADTS frames in \(window.size)")
        return walk
    }

    private static func done(_ walk: ()) -> AnyHashable { true }
}
