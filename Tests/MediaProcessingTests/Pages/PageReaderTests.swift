import AttachPrepModel
import Foundation
import MediaEngine
import Testing

@testable import MediaProcessing

/// The links of web pages, found by the parser of the media process.
@Suite(.timeLimit(.minutes(2))) struct PageReaderTests {
    private func read(_ page: [UInt8], charset: String? = nil) throws -> PageLinks {
        try PageReader.links(page, charset: charset, deadline: .now + .seconds(30))
    }

    private func links(_ page: String, charset: String? = nil) throws -> [PageLink] {
        try read(Array(page.utf8), charset: charset).links
    }

    @Test(arguments: [
        (#"<meta property="og:image" content="a.png">"#, PageProperty.ogImage),
        (#"<META CONTENT='a.png' PROPERTY=OG:Image />"#, .ogImage), (#"<meta name=og:image content=a.png>"#, .ogImage),
        (#"<meta property="og:image:secure_url" content=" a.png ">"#, .ogImage),
        (
            #"<meta property="og:video:url" content="a.png"><meta property="og:video:type" content="video/mp4">"#,
            .ogVideo
        ),
        (#"<meta name="twitter:image:src" content="a.png">"#, .twitterImage),
        (#"<link rel="shortcut image_src" href="a.png">"#, .imageSource),
        (#"<link rel=alternate type="application/json+oembed; charset=utf-8" href=a.png>"#, .oEmbed),
        (#"</div><title>x</title><body><p><meta property=og:image content=a.png>"#, .ogImage),
    ])
    func `Each way of naming an image or video is found`(markup: String, property: PageProperty) throws {
        #expect(try links("<!doctype html><html><head>\(markup)") == [PageLink(property, "a.png")])
    }

    @Test(arguments: [
        #"<!-- <meta property="og:image" content="a.png"> -->"#,
        #"<script>'<meta property="og:image" content="a">'</script>"#,
        #"<meta property="og:image">"#, #"<meta property="og:image" content="">"#, #"<meta content="a.png">"#,
        #"<link rel="icon" href="a.png">"#,
        #"<meta property="og:video" content="p"><meta property="og:video:type" content="text/html">"#,
        "<meta property=og:image content=\"\(String(repeating: "a", count: 9_000))\">", "", "<", "<meta",
        "<meta property=\"",
    ])
    func `What names nothing is left out`(markup: String) throws {
        #expect(try links(markup) == [])
    }

    @Test func `Character references in URLs are decoded, entities are not declared`() throws {
        let page = """
            <!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>
            <meta property=og:image content="a?b=1&amp;c=2&x;">
            """
        #expect(try links(page).map(\.url) == ["a?b=1&c=2&x;"])
    }

    @Test func `The first base counts`() throws {
        let page = try read(Array("<base href='/x/'><base href='/y/'><meta property=og:image content=a>".utf8))
        #expect(page.base == "/x/" && page.links.count == 1)
    }

    // MARK: Encodings

    private static let page = "<meta property=og:image content='/é.png'>"

    @Test func `UTF-8, UTF-16 and windows-1252 are decoded`() throws {
        let utf16: [UInt8] = [0xFF, 0xFE] + Self.page.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let latin = Self.page.unicodeScalars.map { UInt8($0.value) }
        let cases: [([UInt8], String?)] = [
            (Array(Self.page.utf8), nil), (Array(Self.page.utf8), "utf-8"), (utf16, nil), (utf16, "utf-8"),
            (latin, nil), (latin, "iso-8859-1"), (Array("<meta charset=latin1>".utf8) + latin, nil),
            (Array("<meta charset='utf-8'>".utf8) + Array(Self.page.utf8), nil),
        ]
        for (bytes, charset) in cases {
            #expect(try read(bytes, charset: charset).links.map(\.url) == ["/é.png"], "\(charset ?? "none")")
        }
    }

    @Test(arguments: ["utf-8", "shift_jis", "gb18030", "x-unknown", nil])
    func `A wrong encoding and invalid bytes do not hide ASCII`(charset: String?) throws {
        let noise: [UInt8] = [0xFF, 0xC0, 0x80, 0xED, 0xA0, 0x80, 0x00, 0x81]
        let page = noise + Array("<title>".utf8) + noise + Array("</title><meta property=og:image content=a>".utf8)
        #expect(try read(page, charset: charset).links.map(\.url) == ["a"])
    }

    // MARK: Hostile pages

    private static let mebibyte = 1_048_576

    private func filled(_ unit: String) -> String { String(repeating: unit, count: Self.mebibyte / unit.utf8.count) }

    @Test(arguments: [
        "<a>", "<div>", "<div></b>", "<table>", "<p", "<!--", "<!doctype", "&amp;", "&x",
        "<meta property=og:image content=a>",
        "<a b=\"", "<a b='c' ", "</p>", "<script>", "<![CDATA[", "<svg><path d='1 2 3'>", "\u{0}", "<base href=x>",
    ])
    func `A mebibyte of one thing is read in seconds`(unit: String) throws {
        let start = ContinuousClock.now
        let links = try links(filled(unit))
        #expect(links.count <= PageLinks.countMax)
        // Quadratic work would take minutes.
        #expect(start.duration(to: .now) < .seconds(20), "\(unit)")
    }

    @Test func `A tag of a mebibyte with different attributes is read in seconds`() throws {
        let attributes = (0..<120_000).map { String($0, radix: 36) }.joined(separator: " a")
        let start = ContinuousClock.now
        _ = try links("<meta a\(attributes)>")
        _ = try links("<meta property=og:image content=a \(filled("é"))>")
        #expect(start.duration(to: .now) < .seconds(20))
    }

    @Test func `Ten thousand links give the first ones`() throws {
        let page = (0..<10_000).map { "<meta property=og:image content=\($0)>" }.joined()
        #expect(try links(page).map(\.url) == (0..<PageLinks.countMax).map(String.init))
    }

    @Test func `A long data URL before the links does not hide them`() throws {
        let icon = String(repeating: "QUJD", count: 25_000)
        let page = "<link rel=icon href=\"data:image/png;base64,\(icon)\"><meta property=og:image content=a>"
        #expect(try links(page).map(\.url) == ["a"])
    }

    @Test func `A deadline that has passed ends the work`() throws {
        #expect(throws: AttachPrepError.self) {
            try PageReader.links(Array("<p>".utf8), charset: nil, deadline: .now - .seconds(1))
        }
    }
}
