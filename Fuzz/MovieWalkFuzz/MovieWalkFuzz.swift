import FuzzSupport
import MediaProcessing
import WalkSupport

/// The walks over movies: boxes, chunks, objects, tags, packets.
@main enum MovieWalkFuzz {
    static func main() {
        let file = WalkedFile(noun: "movie")
        FuzzTarget.run { input in
            var input = input
            let walk = walks[Int(input.byte()) % walks.count]
            try file.check(input.rest(), walk)
        }
    }

    private static let walks: [@Sendable (ByteWindow) throws -> AnyHashable] = [
        { try BoxWalk.walk($0) },
        { try done(AVIWalk.check($0)) },
        { try done(ASFWalk.check($0)) },
        { try done(SegmentWalk.check($0)) },
        { try done(FlashVideoWalk.check($0)) },
        { try done(ProgramStreamWalk.check($0)) },
        { try done(VideoSequenceWalk.check($0)) },
    ]

    private static func done(_ walk: ()) -> AnyHashable { true }
}
