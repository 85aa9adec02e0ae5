import AttachPrepModel
import Testing

@testable import AttachPrep

/// Reading playlists: a table of texts and what they mean.
struct PlaylistTests {
    private func media(_ lines: String...) throws -> MediaPlaylist {
        let text = (["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines).joined(separator: "\n")
        guard case .media(let list) = try Playlist(Array(text.utf8)) else { throw OtherPlaylistError() }
        return list
    }

    private func master(_ lines: String...) throws -> MasterPlaylist {
        let text = (["#EXTM3U"] + lines).joined(separator: "\n")
        guard case .master(let list) = try Playlist(Array(text.utf8)) else { throw OtherPlaylistError() }
        return list
    }

    private struct OtherPlaylistError: Error {}

    private func code(_ text: String) -> ErrorCode? {
        do {
            _ = try Playlist(Array(text.utf8))
            return nil
        } catch { return error.code }
    }

    // MARK: Segments

    @Test func `Segments have addresses, durations and sequence numbers`() throws {
        let list = try media(
            "#EXT-X-MEDIA-SEQUENCE:7", "#EXTINF:4.5,title", "a.ts", "# a comment", "", "#EXTINF:3", "b.ts?x=1",
            "#EXT-X-ENDLIST")
        #expect(list.segments.map(\.uri) == ["a.ts", "b.ts?x=1"])
        #expect(list.segments.map(\.seconds) == [4.5, 3])
        #expect(list.segments.map(\.sequence) == [7, 8])
        #expect(list.isEnded)
    }

    @Test func `Lines may end with carriage returns and have spaces around them`() throws {
        let text = "\u{FEFF}#EXTM3U\r\n#EXT-X-VERSION:3\r\n#EXTINF: 4.0 ,\r\n a.ts \r\n"
        guard case .media(let list) = try Playlist(Array(text.utf8)) else { throw OtherPlaylistError() }
        #expect(list.segments.map(\.uri) == ["a.ts"] && !list.isEnded)
    }

    @Test func `Byte ranges without an offset follow the range before`() throws {
        let list = try media(
            "#EXTINF:4,", "#EXT-X-BYTERANGE:100@50", "a.ts", "#EXTINF:4,", "#EXT-X-BYTERANGE:30", "a.ts",
            "#EXTINF:4,", "b.ts")
        #expect(
            list.segments.map(\.range) == [
                ResourceRange(offset: 50, length: 100), ResourceRange(offset: 150, length: 30), nil,
            ])
    }

    @Test func `Discontinuities separate runs`() throws {
        let list = try media(
            "#EXT-X-DISCONTINUITY-SEQUENCE:3", "#EXTINF:4,", "a.ts", "#EXT-X-DISCONTINUITY", "#EXTINF:4,", "b.ts")
        #expect(list.segments.map(\.discontinuity) == [3, 4])
    }

    @Test func `A missing segment is marked`() throws {
        let list = try media("#EXT-X-GAP", "#EXTINF:4,", "a.ts", "#EXTINF:4,", "b.ts")
        #expect(list.segments.map(\.isMissing) == [true, false])
    }

    @Test func `An initialization section applies to all following segments`() throws {
        let list = try media(
            "#EXT-X-MAP:URI=\"i.mp4\",BYTERANGE=\"20@10\"", "#EXTINF:4,", "a.m4s", "#EXTINF:4,", "b.m4s")
        #expect(
            list.segments.allSatisfy {
                $0.map?.uri == "i.mp4" && $0.map?.range == ResourceRange(offset: 10, length: 20)
            })
    }

    // MARK: Keys

    @Test func `A key applies until the next one`() throws {
        let list = try media(
            "#EXTINF:4,", "a.ts", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x0102", "#EXTINF:4,", "b.ts",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k,2\"", "#EXTINF:4,", "c.ts", "#EXT-X-KEY:METHOD=NONE", "#EXTINF:4,",
            "d.ts")
        let vector = [UInt8](repeating: 0, count: 14) + [1, 2]
        #expect(
            list.segments.map(\.protection) == [
                .none, .aes128(uri: "k", vector: vector), .aes128(uri: "k,2", vector: nil), .none,
            ])
    }

    @Test(arguments: [
        "METHOD=SAMPLE-AES,URI=\"k\"", "METHOD=SAMPLE-AES-CTR,URI=\"k\"",
        "METHOD=AES-128,URI=\"skd://k\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
    ])
    func `Other protection is media.encrypted when its segments are needed`(key: String) throws {
        let list = try media("#EXT-X-KEY:\(key)", "#EXTINF:4,", "a.ts", "#EXT-X-ENDLIST")
        let error = #expect(throws: AttachPrepError.self) { try PlaylistClip(list, seconds: nil) }
        #expect(error?.code == .mediaEncrypted)
    }

    @Test func `The initialization vector defaults to the media sequence number`() {
        #expect((258 as UInt64).initializationVector == [UInt8](repeating: 0, count: 14) + [1, 2])
        #expect(UInt64.max.initializationVector.suffix(8) == Array(repeating: 255, count: 8))
    }

    // MARK: Variants

    @Test func `Variants have bandwidth, codecs, size and an audio group`() throws {
        let list = try master(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"x\",DEFAULT=YES,URI=\"audio.m3u8\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS=\"avc1.64001f,mp4a.40.2\",RESOLUTION=640x360,AUDIO=\"a\"",
            "low.m3u8")
        let variant = try #require(list.variants.first)
        #expect(variant.uri == "low.m3u8" && variant.bandwidth == 800_000 && variant.width == 640)
        #expect(variant.codecs == ["avc1.64001f", "mp4a.40.2"])
        #expect(VariantChoice.ranked(list).first?.audio == "audio.m3u8")
    }

    private static let inf = "#EXT-X-STREAM-INF:BANDWIDTH="

    @Test(arguments: [
        // The smallest of those that iOS shows.
        (
            [
                "900,CODECS=\"avc1.4d,mp4a.40.2\"", "300,CODECS=\"avc1.4d,mp4a.40.2\"",
                "500,CODECS=\"hvc1.1,mp4a.40.2\"",
            ], 300
        ),
        // Without sound is fine; other codecs and audio alone are not.
        (["100,CODECS=\"mp4a.40.2\"", "200,CODECS=\"vp09.00\"", "400,CODECS=\"avc1.4d\""], 400),
        // Undeclared codecs are better than those that are converted.
        (["100,CODECS=\"av01.0\"", "200", "150,CODECS=\"avc1.4d,ac-3\""], 200),
        (["700,CODECS=\"mp4a.40.5\"", "600,CODECS=\"mp4a.40.2\""], 600),
    ])
    func `The smallest variant that iOS shows is chosen`(variants: [String], bandwidth: Int) throws {
        let lines = variants.flatMap { ["#EXT-X-STREAM-INF:BANDWIDTH=\($0)", "v.m3u8"] }
        guard case .master(let list) = try Playlist(Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8)) else {
            throw OtherPlaylistError()
        }
        #expect(VariantChoice.ranked(list).first?.variant.bandwidth == bandwidth)
    }

    // MARK: Clips

    private func list(_ count: Int, of seconds: Double, isEnded: Bool) -> MediaPlaylist {
        let segments = (0..<count).map {
            PlaylistSegment(uri: "\($0)", seconds: seconds, sequence: UInt64($0), discontinuity: 0)
        }
        return MediaPlaylist(segments: segments, isEnded: isEnded)
    }

    @Test(arguments: [
        (false, nil, ["7", "8", "9"]), (false, 4.0, ["9"]), (false, 4.1, ["8", "9"]), (true, 4.1, ["0", "1"]),
        (true, nil, (0..<10).map(String.init)),
    ])
    func `A live clip has the last segments, any other the first`(isEnded: Bool, seconds: Double?, uris: [String])
        throws
    {
        #expect(try PlaylistClip(list(10, of: 4, isEnded: isEnded), seconds: seconds).segments.map(\.uri) == uris)
    }

    @Test func `A stream longer than a minute is a part`() throws {
        #expect(try PlaylistClip(list(30, of: 4, isEnded: true), seconds: nil).isPart)
        #expect(!(try PlaylistClip(list(15, of: 4, isEnded: true), seconds: nil).isPart))
    }

    @Test func `A clip of too many segments is media.too_long`() throws {
        let error = #expect(throws: AttachPrepError.self) {
            try PlaylistClip(list(900, of: 0, isEnded: true), seconds: nil)
        }
        #expect(error?.code == .mediaTooLong)
    }

    // MARK: Rejected texts

    private static let rejected: [(String, ErrorCode)] = [
        ("", .mediaCorrupt), ("#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts", .mediaCorrupt),
        ("#EXTM3U", .mediaUnrecognized), ("#EXTM3U\nsong.mp3\n", .mediaUnrecognized),
        ("#EXTM3U\n#EXTINF:-1,Song\nsong.mp3\n", .mediaUnrecognized),
        ("#EXTM3U\n#EXTINF:9,a\nsong.mp3\n", .mediaUnrecognized),
        ("#EXTM3U\n#EXT-X-VERSION:3\n", .mediaEmpty), ("#EXTM3U\n#EXT-X-VERSION:3\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:x,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1e9,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:999999999999,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:-4,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:nan,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:18446744073709551616\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:18446744073709551615\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:-1\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-DISCONTINUITY-SEQUENCE:99999999999999999999\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-BYTERANGE:9223372036854775807@9223372036854775807\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-BYTERANGE:0@0\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-BYTERANGE:10\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-BYTERANGE:1@-1\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-KEY:URI=\"k\"\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x112233445566778899AABBCCDDEEFF0011\n", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-MAP:BYTERANGE=\"1@0\"\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-STREAM-INF:CODECS=\"avc1\"\na.m3u8", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-I-FRAMES-ONLY\n#EXTINF:1,\na.ts", .mediaUnsupported),
        ("#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n#EXTINF:1,\n{$a}.ts", .mediaUnsupported),
        ("#EXTM3U\u{0}\n#EXT-X-VERSION:3\n#EXTINF:1,\na.ts", .mediaCorrupt),
        ("#EXTM3U\n#EXT-X-VERSION:3\n" + String(repeating: "#EXTINF:1,\na\n", count: 1_001), .downloadTooLarge),
        ("#EXTM3U\n" + String(repeating: "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n", count: 1_001), .downloadTooLarge),
    ]

    @Test(arguments: rejected)
    func `An invalid playlist is rejected with its code`(text: String, expected: ErrorCode) {
        #expect(code(text) == expected)
    }

    @Test func `Bytes that are no text are rejected`() {
        let bytes = Array("#EXTM3U\n#EXT-X-VERSION:3\n".utf8) + [0xFF, 0xFE, 0x80]
        #expect(throws: AttachPrepError.self) { try Playlist(bytes) }
    }
}
