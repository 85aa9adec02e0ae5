import AttachPrepModel
import Foundation
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing
@testable import Vips

/// SVGs are drawn at the size of a notification; those that need fonts are rejected.
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
        #expect(SVGRenderer.hasASCIIMarkup(Array("<?xml version='1.0' encoding='\(name)'?><svg/>".utf8)))
    }

    @Test func `Names that only begin like those of text are drawn`() throws {
        #expect(try image("<textile/><style>a:text-top{}</style><!-- text -->").width == 1_280)
    }

    /// A chain of 300 masks took 2 GB, and 1,000 copies inside each other all of the stack.
    @Test func `A drawing nested too deeply by references is rejected before it is drawn`() throws {
        let masks = (0..<300).map { "<mask id='m\($0)'><rect width='9' height='9' mask='url(#m\($0 + 1))'/></mask>" }
        let copies = (0..<1_000).map { "<g id='u\($0)'><use href='#u\($0 + 1)'/></g>" }
        for content in [masks.joined() + "<rect width='9' height='9' mask='url(#m0)'/>", copies.joined()] {
            let error = #expect(throws: AttachPrepError.self) { try image(content) }
            #expect(error?.code == .mediaTooManyPixels)
        }
    }

    @Test func `A drawing with as many layers as allowed is drawn`() throws {
        let count = Limits.svgLayersMax
        let groups = String(repeating: "<g opacity='.9'><rect width='20' height='10' fill='red'/>", count: count)
        #expect(try image(groups + String(repeating: "</g>", count: count)).width == 1_280)
        let deeper = "<g opacity='.9'>\(groups)\(String(repeating: "</g>", count: count + 1))"
        #expect(#expect(throws: AttachPrepError.self) { try image(deeper) }?.code == .mediaTooManyPixels)
    }

    @Test func `A drawing whose references form a circle is unsupported`() {
        let circle = "<mask id='a'><g mask='url(#b)'/></mask><mask id='b'><g mask='url(#a)'/></mask>"
        #expect(#expect(throws: AttachPrepError.self) { try image(circle) }?.code == .mediaUnsupported)
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
