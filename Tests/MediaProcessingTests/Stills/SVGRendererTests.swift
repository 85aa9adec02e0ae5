import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import MediaLibraries
@testable import MediaProcessing

/// SVGs are drawn at the size of a notification; those that need fonts or other files are rejected.
@Suite struct SVGRendererTests {
    private func image(_ content: String, _ attributes: String = "width='20' height='10'") throws -> Image {
        try VipsLibrary.start()
        let text = "<svg xmlns='http://www.w3.org/2000/svg' \(attributes)>\(content)</svg>"
        return try withDescriptor(GeneratedMedia.file("a.svg", bytes: Array(text.utf8))) {
            try SVGRenderer.image(descriptor: $0, deadline: .now + .seconds(30))
        }
    }

    @Test(arguments: [
        ("width='20' height='10'", 1_280, 640), ("viewBox='0 0 10 20'", 640, 1_280),
        ("width='100000' height='50000'", 1_280, 640), ("width='3in' height='3in'", 1_280, 1_280),
    ])
    func `The longer side is 1280 pixels, whatever the drawing's own size`(attributes: String, width: Int, height: Int)
        throws
    {
        let drawn = try image("<rect width='10' height='10' fill='red'/>", attributes)
        #expect(abs(drawn.width - width) <= 1 && abs(drawn.height - height) <= 1)
    }

    @Test func `What is not painted stays transparent`() throws {
        let drawn = try image("<rect width='10' height='10' fill='#ff0000'/>")
        let pixels = try drawn.pixels()
        #expect(drawn.bands == 4 && Array(pixels.prefix(4)) == [255, 0, 0, 255] && pixels.suffix(4).last == 0)
    }

    @Test(arguments: [
        "<text y='9'>a</text>", "<s:text xmlns:s='http://www.w3.org/2000/svg'>a</s:text>", "<g><tspan\n>a</tspan></g>",
        "<foreignObject/>", "<image href='a.png'/>", "<filter><feImage href='a.png'/></filter>",
    ])
    func `A drawing with text or images is unsupported`(content: String) {
        #expect(#expect(throws: AttachPrepError.self) { try image(content) }?.code == .mediaUnsupported)
    }

    @Test(arguments: [
        "<!DOCTYPE svg [<!ENTITY i \"&#60;image href='data:;base64,AA=='/>\">]><svg>&i;</svg>",
        "<!DOCTYPE svg [<!ATTLIST use href CDATA 'x'>]><svg><use/></svg>",
        "<!DOCTYPE svg [<!ENTITY d \"ata:\">]><svg/>", "<svg><use href='&#100;ata:;base64,AA==#a'/></svg>",
        "<svg><use href='DATA:;base64,AA==#a'/></svg>", "<svg><include href='data:,a'/></svg>",
        "<?xml version='1.0' encoding='UTF-7'?><svg>+ADw-image/+AD4-</svg>",
        "<?xml version='1.0' encoding=\"utf-16\"?><svg/>", "<svg>\0</svg>", "+ADw-svg/+AD4-",
    ])
    func `Markup that stands for text or images is unsupported`(text: String) throws {
        try VipsLibrary.start()
        try withDescriptor(GeneratedMedia.file("a.svg", bytes: Array(text.utf8))) { descriptor in
            let error = #expect(throws: AttachPrepError.self) {
                try SVGRenderer.image(descriptor: descriptor, deadline: .now + .seconds(30))
            }
            #expect(error?.code == .mediaUnsupported)
        }
    }

    @Test(arguments: ["UTF-8", "ISO-8859-1", "us-ascii"])
    func `A drawing may declare an encoding that contains ASCII`(name: String) {
        #expect(SVGContent.hasASCIIMarkup(Array("<?xml version='1.0' encoding='\(name)'?><svg/>".utf8)))
    }

    @Test func `Names that only begin like those of text are drawn`() throws {
        #expect(try image("<textile/><style>a:text-top{}</style><!-- text -->").width == 1_280)
    }

    @Test(arguments: [
        "<use href='b.svg#a'/>", "<use xlink:href = \"https://cdn.example/b.svg#a\"/>", "<rect fill='url(b.svg#a)'/>",
        "<style>@import url(b.css);</style>", "<style>rect{fill:URL( 'b.svg#a' )}</style>",
        "<rect style='fill:url(&quot;b.svg#a&quot;)'/>", "<a/><linearGradient href='b.svg#a'/>",
    ])
    func `A drawing that refers to another file is unsupported`(content: String) {
        let error = #expect(throws: AttachPrepError.self) {
            try image(content, "xmlns:xlink='http://www.w3.org/1999/xlink'")
        }
        #expect(error?.code == .mediaUnsupported)
    }

    @Test func `A drawing may refer to itself, link to pages and name its document type`() throws {
        let content =
            "<a href='https://cdn.example'><rect width='9' height='9' style='fill:url(#g)'/></a>"
            + "<linearGradient id='g'/><use href=' #g'/><rect fill='url(&quot;#g&quot;)'/>"
        #expect(try image(content).width == 1_280)
        let type = "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>"
        #expect(!SVGContent.hasRejected(Array("\(type)<svg/>".utf8)))
    }

    @Test(arguments: ["\u{FEFF}", "\r\n \t", "<!-- \(String(repeating: "comment ", count: 5_000))-->\n"])
    func `What precedes the root element changes nothing`(prefix: String) throws {
        try VipsLibrary.start()
        let text = "\(prefix)<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'/>"
        let drawn = try withDescriptor(GeneratedMedia.file("a.svg", bytes: Array(text.utf8))) {
            try SVGRenderer.image(descriptor: $0, deadline: .now + .seconds(30))
        }
        #expect(drawn.width == 1_280)
    }

    @Test(arguments: ["<svg", "<svg xmlns='http://www.w3.org/2000/svg'><rect"])
    func `A truncated drawing is an error`(text: String) throws {
        try VipsLibrary.start()
        try withDescriptor(GeneratedMedia.file("a.svg", bytes: Array(text.utf8))) { descriptor in
            _ = #expect(throws: (any Error).self) {
                try SVGRenderer.image(descriptor: descriptor, deadline: .now + .seconds(30))
            }
        }
    }
}
