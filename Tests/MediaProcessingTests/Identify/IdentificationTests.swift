import AttachPrepModel
import Foundation
import Glibc
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

struct IdentificationTests {
    /// The format that the first bytes of a file are identified as.
    private func identify(_ bytes: [UInt8], isComplete: Bool = true) throws -> MediaFormat? {
        let file = try GeneratedMedia.file("bytes", bytes: bytes)
        let descriptor = open(file.path, O_RDONLY)
        defer { close(descriptor) }
        let request = IdentifyRequest(availableBytes: bytes.count, isComplete: isComplete)
        let answer = try MediaProcessor().perform(
            .identify(request), descriptors: [descriptor], deadline: .now + .seconds(60))
        guard case .identified(let media) = answer else { return nil }
        return media.format
    }

    /// An MP3 needs more than its tag to be identified.
    static let samples: [(String, MediaFormat)] = Sample.all.compactMap { sample in
        guard let format = sample.format.flatMap(MediaFormat.init(rawValue:)), format != .mp3 else { return nil }
        return (sample.file, format)
    }

    @Test(arguments: samples)
    func `The format is identified from the first bytes of a file`(name: String, format: MediaFormat) throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample(name))))
        #expect(try identify(Array(bytes.prefix(Limits.identifyBytesFirst)), isComplete: false) == format)
    }

    private typealias Bytes = MediaBytes
    private static let rest = Bytes.zeros(100)

    private static let undecoded: [(type: String, bytes: [UInt8])] = [
        (
            "image/vnd.adobe.photoshop",
            Bytes.text("8BPS") ++ [0, 1] ++ Bytes.zeros(6) ++ [0, 3] ++ Bytes.bigEndian(3, 4) ++ Bytes.bigEndian(4, 4)
                ++ [0, 8, 0, 3] ++ rest
        ),
        (
            "image/x-win-bitmap",
            [0, 0, 2, 0, 1, 0, 32, 32, 0, 0, 0, 0, 0, 0] ++ Bytes.littleEndian(40, 4) ++ Bytes.littleEndian(22, 4)
                ++ Bytes.littleEndian(40, 4) ++ rest
        ),
        ("audio/x-ape", Bytes.text("MAC ") ++ Bytes.littleEndian(3_990, 2) ++ [0, 0, 52, 0, 0, 0] ++ rest),
        ("audio/x-musepack", Bytes.text("MP+\u{7}") ++ rest), ("audio/x-musepack", Bytes.text("MPCKSH") ++ rest),
        ("audio/x-dsf", Bytes.text("DSD ") ++ Bytes.littleEndian(28, 8) ++ rest),
        ("audio/x-dff", Bytes.text("FRM8") ++ Bytes.bigEndian(200, 8) ++ Bytes.text("DSD FVER") ++ rest),
        ("audio/x-pn-realaudio", Bytes.text(".ra") ++ [0xFD, 0, 5] ++ rest),
        ("application/vnd.rn-realmedia", Bytes.text(".RMF") ++ [0, 0, 0, 18, 0, 0] ++ rest),
    ]

    @Test(arguments: undecoded.indices)
    func `Formats without a decoder are unsupported, and the error names them`(index: Int) throws {
        let (type, bytes) = Self.undecoded[index]
        let error = #expect(throws: AttachPrepError.self) { try identify(bytes) }
        #expect(error?.code == .mediaUnsupported && error?.message.contains(type) == true, "\(type): \(error as Any)")
    }

    @Test(arguments: [
        "<!DOCTYPE html><html><head><title>Sign in</title></head><body></body></html>", #"{"error": "not found"}"#,
        "Not found, sorry.",
        "PK\u{3}\u{4}\u{14}\u{0}\u{0}\u{0}\u{8}\u{0}" + String(repeating: "\u{0}", count: 16)
            + "\u{5}\u{0}\u{0}\u{0}a.txthello world, hello world", "%PDF-1.7\n%\u{e2}\u{e3}\n1 0 obj\n",
        "#EXTM3U\n#EXTINF:10,\nhttp://169.254.169.254/latest\n",
    ])
    func `Web pages, documents, archives and playlists are unrecognized`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try identify(Array(text.utf8), isComplete: false) }
        #expect(error?.code == .mediaUnrecognized)
    }

    @Test(arguments: [
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000\nlow.m3u8\n", "#EXTM3U\r\n#EXTINF:9,Song\r\nsong.mp3\r\n",
        "\u{FEFF}#EXTM3U\n", "\n\n #EXTM3U\n#EXTINF:1,\na.ts\n",
    ])
    func `A playlist is rejected with what it is and what to give`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try identify(Array(text.utf8), isComplete: false) }
        #expect(error?.code == .mediaUnrecognized && error?.isRetryable == false)
        #expect(
            error?.message == "The source is a playlist (M3U or M3U8), which only lists other files; give the URL of "
                + "an image, audio or movie file, such as an MP4 of the stream.")
    }

    @Test(arguments: [
        "<!DOCTYPE html><html><head><title>Sign in</title></head>", "\u{FEFF}\n <HTML lang=en><body>",
        "<meta charset=utf-8><meta property=og:image content=a.png>",
        "<?xml version=\"1.0\"?><!DOCTYPE html><html xmlns=\"http://www.w3.org/1999/xhtml\">",
    ])
    func `A web page is rejected with what it is and what to give`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try identify(Array(text.utf8), isComplete: false) }
        #expect(error?.code == .mediaUnrecognized && error?.isRetryable == false)
        #expect(
            error?.message == "The source is a web page (HTML), not an image, audio or movie file; give the URL of the "
                + "file itself.")
    }

    @Test(arguments: [
        "FWS\u{9}", "\u{1F}\u{7}\u{0}\u{3F}",
        "MThd\u{0}\u{0}\u{0}\u{6}\u{0}\u{1}\u{0}\u{1}\u{0}`",
    ])
    func `Known media formats that cannot be decoded are unsupported`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try identify(Array(text.utf8)) }
        #expect(error?.code == .mediaUnsupported)
    }

    private static let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"

    @Test(arguments: [
        svg, "\u{FEFF}\(svg)", "\n\t \(svg)", "<?xml version=\"1.0\"?>\n<!-- a <html> -->\n\(svg)",
        "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"svg11.dtd\" [<!ENTITY a \"b>\">]>\(svg)",
        "<s:svg xmlns:s=\"\"/>",
        "<!-- \(String(repeating: "License. ", count: 5_000))-->\(svg)",
    ])
    func `An SVG is identified by its root element, whatever precedes it`(text: String) throws {
        let bytes = Array(text.utf8)
        #expect(try identify(bytes) == .svg)
        // Too few bytes do not decide.
        let first = Array(bytes.prefix(Limits.identifyBytesFirst))
        if first.count < bytes.count { #expect(try identify(first, isComplete: false) == nil) }
    }

    @Test func `An SVG in UTF-16 is identified, with and without a byte order mark`() throws {
        for order in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian] {
            let bytes = try Array(#require(Self.svg.data(using: order)))
            #expect(try identify(bytes) == .svg)
        }
    }

    @Test(arguments: ["<html><svg/></html>", "<!-- svg --><p>", "<svgz/>", "<rss version='2.0'/>"])
    func `Markup with another root element is no SVG`(text: String) {
        #expect(throws: AttachPrepError.self) { try identify(Array(text.utf8)) }
    }

    @Test func `A Lottie animation and a sticker of Telegram say what to send instead`() {
        let lottie = #"{"v":"5.5.7","fr":30,"ip":0,"op":60,"w":512,"h":512,"assets":[],"layers":[]}"#
        let error = #expect(throws: AttachPrepError.self) { try identify(Array(lottie.utf8)) }
        #expect(error?.code == .mediaUnsupported && error?.message.contains("Lottie") == true)
        let packed: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 7, count: 100)
        let sticker = #expect(throws: AttachPrepError.self) { try identify(packed) }
        #expect(sticker?.code == .mediaUnrecognized && sticker?.message.contains("TGS") == true)
    }

    @Test func `A file of zero bytes is empty`() {
        let error = #expect(throws: AttachPrepError.self) { try identify([]) }
        #expect(error?.code == .mediaEmpty)
    }

    @Test func `MP3 frames after a large ID3 tag are found once the file is complete`() throws {
        let audio = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("cover.mp3"))))
        let frames = Array(audio.suffix(8_000))
        let start = try #require(
            frames.indices.dropLast().first { frames[$0] == 0xFF && frames[$0 + 1] & 0xE0 == 0xE0 })
        // 200,000 bytes of ID3 padding: 0x0C1A40 in groups of seven bits.
        let tag = Array("ID3".utf8) + [3, 0, 0, 0x00, 0x0C, 0x1A, 0x40] + [UInt8](repeating: 0, count: 200_000)
        let file = tag + frames[start...]
        #expect(try identify(file, isComplete: true) == .mp3)
        #expect(try identify(Array(file.prefix(4_096)), isComplete: false) == nil)
    }

    @Test(arguments: [
        ("heic", ["mif1"], MediaFormat.heic), ("mif1", ["avif", "miaf"], .avif), ("mif1", ["heic"], .heic),
        ("mif1", ["hevx"], .heic), ("mif1", ["jpeg"], .heif), ("avis", [], .avif), ("qt  ", [], .quickTime),
        ("M4A ", [], .mpeg4Audio), ("M4V ", [], .m4v), ("3gp5", [], .threeGPP), ("3g2a", [], .threeGPP2),
        ("isom", ["qt  "], .mpeg4), ("mp42", [], .mpeg4), ("iso6", [], .mpeg4), ("dash", [], .mpeg4),
    ])
    func `The major brand gives the format, and a HEIF's compatible brands its codec`(
        major: String, compatible: [String], format: MediaFormat
    ) {
        #expect(ISOBrand.format(major: major, compatible: compatible) == format)
    }
}
