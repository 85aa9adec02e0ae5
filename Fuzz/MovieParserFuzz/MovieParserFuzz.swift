import FuzzSupport
import MediaLibraries
import ParserSupport

@testable import MediaProcessing

/// Fuzzes the parsers of movies: boxes, chunks, objects, tags, packets, the units of a sample.
@main enum MovieParserFuzz {
    static func main() {
        let file = ParsedFile(noun: "movie")
        FuzzTarget.run { input in
            var input = input
            let parser = parsers[Int(input.byte()) % parsers.count]
            try file.check(input.rest(), parser)
        }
    }

    private static let parsers: [@Sendable (ByteWindow) throws -> AnyHashable] = [
        { try ISOBoxParser.parse($0) },
        { try done(AVIValidator.check($0)) },
        { try done(ASFValidator.check($0)) },
        { try done(MatroskaValidator.check($0)) },
        { try done(FlashVideoValidator.check($0)) },
        { try done(MPEGProgramStreamValidator.check($0)) },
        { try done(MPEGVideoValidator.check($0)) },
        { try units("h264", $0) },
        { try units("hevc", $0) },
    ]

    /// Uses unit lengths of two bytes, so that small inputs have several units.
    private static func units(_ codec: String, _ window: ByteWindow) throws -> AnyHashable {
        let configuration: [UInt8] = [1, 0, 0, 0, 1] + [UInt8](repeating: 1, count: 18)
        let structure = NALUnitValidator(codec: codec, configuration: configuration)
        let sample = try Packet.holding(Array(window.whole(at: 0, count: window.size)))
        return [structure?.isIntact(sample), structure?.containsIDR(sample)]
    }

    private static func done(_ parser: ()) -> AnyHashable { true }
}
