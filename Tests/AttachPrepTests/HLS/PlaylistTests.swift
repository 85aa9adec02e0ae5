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
        #expect(list.segments.map(\.isGap) == [true, false])
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

    @Test(
        arguments: [
            // A request without a network: the smallest.
            (nil, 60.0, 400), (nil, 5, 400),
            // 3G within 8 s is 1,540,000 bytes.
            (1_540_000, 60, 400), (1_540_000, 15, 800), (1_540_000, 6, 2_000), (1_540_000, 1, 5_000),
            // LTE within 8 s is 11,790,000 bytes; Wi-Fi within 30 s is over Apple's limit of 50 MB.
            (11_790_000, 60, 800), (11_790_000, 30, 2_000), (50_000_000, 60, 5_000), (50_000_000, 300, 800),
            // None is small enough, and exactly at the limit.
            (1_000, 60, 400), (750_000, 15, 400), (1_500_000, 15, 800), (1_499_999, 15, 400),
        ] as [(Int?, Double, Int)])
    func `With a network, the best variant whose clip a phone can fetch in time is chosen, up to 720p`(
        bytesMax: Int?, seconds: Double, kilobits: Int
    ) throws {
        let codecs = "CODECS=\"avc1.4d,mp4a.40.2\""
        let list = try master(
            "#EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1280x720,\(codecs)", "720",
            "#EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=416x234,\(codecs)", "234",
            "#EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=540x960,\(codecs)", "960",
            "#EXT-X-STREAM-INF:BANDWIDTH=800000,\(codecs)", "unknown",
            "#EXT-X-STREAM-INF:BANDWIDTH=7000000,RESOLUTION=1920x1080,\(codecs)", "1080",
            "#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,CODECS=\"vp09.00,mp4a.40.2\"", "vp9")
        let limits = bytesMax.map { VariantLimits(bytesMax: $0, seconds: seconds) }
        #expect(VariantChoice.ranked(list, within: limits).first?.variant.bandwidth == kilobits * 1_000)
    }

    @Test func `After the best variant the next smaller ones are tried, then larger ones`() throws {
        let list = try master(
            "#EXT-X-STREAM-INF:BANDWIDTH=100000", "a", "#EXT-X-STREAM-INF:BANDWIDTH=200000", "b",
            "#EXT-X-STREAM-INF:BANDWIDTH=300000", "c", "#EXT-X-STREAM-INF:BANDWIDTH=400000", "d")
        let found = { (bytes: Int) in
            VariantChoice.ranked(list, within: VariantLimits(bytesMax: bytes, seconds: 8)).map(\.variant.bandwidth)
        }
        #expect(found(300_000) == [300_000, 200_000, 100_000] && found(200_000) == [200_000, 100_000, 300_000])
        #expect(VariantChoice.ranked(list).map(\.variant.bandwidth) == [100_000, 200_000, 300_000])
    }

    @Test(
        arguments: [
            (nil, nil, nil, nil), (.profile(.threeG), 8, nil, 1_540_000), (.profile(.wifi), 30, nil, 50_000_000),
            (.profile(.wifi), 30, 9_000, 9_000), (.kilobits(80), 10.3, nil, 100_000),
        ] as [(DeviceNetwork?, Double?, Int?, Int?)])
    func `The budget of a variant is the smallest of Apple's, the request's and the network's`(
        network: DeviceNetwork?, seconds: Double?, own: Int?, expected: Int?
    ) {
        var request = AttachmentRequest(source: "https://cdn.example/a.m3u8")
        (request.network, request.deviceBudgetSeconds, request.bytesMax) = (network, seconds, own)
        #expect(VariantLimits(request)?.bytesMax == expected)
        #expect(network == nil || VariantLimits(request)?.seconds == 60)
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
