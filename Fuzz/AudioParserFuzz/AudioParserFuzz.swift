import FuzzSupport
import MediaProcessing
import ParserSupport

/// Fuzzes the parsers of audio files: frames, chunks, pages, and tags.
@main enum AudioParserFuzz {
    static func main() {
        let file = ParsedFile(noun: "audio file")
        FuzzTarget.run { input in
            var input = input
            let parser = parsers[Int(input.byte()) % parsers.count]
            try file.check(input.rest(), parser)
        }
    }

    private static let parsers: [@Sendable (ByteWindow) throws -> AnyHashable] = [
        mp3, adts, wave,
        { try done(AIFFValidator.check($0)) },
        { try done(OggValidator.check($0)) },
    ]

    private static func wave(_ window: ByteWindow) throws -> AnyHashable {
        let parser = try WaveParser.parse(window)
        Invariant.hold(parser.frameBytes > 0, "\(parser.frameBytes) bytes of all channels")
        if let chunk = parser.openChunk { Invariant.hold(chunk + 8 < window.size, "\(chunk) in \(window.size)") }
        return parser
    }

    /// The smallest MP3 frame in bytes, at the lowest bit rate and shortest frame.
    private static let mp3FrameBytesMin = 24

    private static func mp3(_ window: ByteWindow) throws -> AnyHashable {
        let parser = try MP3Parser.parse(window)
        Invariant.hold(parser.frames * mp3FrameBytesMin <= window.size, "\(parser.frames) MP3 frames in \(window.size)")
        return parser
    }

    private static func adts(_ window: ByteWindow) throws -> AnyHashable {
        let parser = try ADTSParser.parse(window)
        Invariant.hold(
            parser.frames * 7 + parser.junkBytes <= window.size, "\(parser.frames) ADTS frames in \(window.size)")
        return parser
    }

    private static func done(_ parser: ()) -> AnyHashable { true }
}
