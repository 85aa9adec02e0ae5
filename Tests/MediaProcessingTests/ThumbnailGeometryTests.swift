import MediaEngine
import MediaProcessing
import RichPush
import Testing

struct ThumbnailGeometryTests {
    struct Case: Sendable {
        let picture: (Int, Int)
        let box: (Int, Int)
        let fit: ThumbnailFit
        let size: (Int, Int)
        let cut: PixelRect?
    }

    static let cases: [Case] = [
        Case(picture: (1200, 800), box: (300, 300), fit: .contain, size: (300, 200), cut: nil),
        Case(picture: (800, 1200), box: (300, 300), fit: .contain, size: (200, 300), cut: nil),
        Case(picture: (100, 80), box: (300, 300), fit: .contain, size: (100, 80), cut: nil),
        Case(
            picture: (1200, 800), box: (300, 300), fit: .cover, size: (450, 300),
            cut: PixelRect(left: 75, top: 0, width: 300, height: 300)),
        Case(
            picture: (400, 100), box: (300, 300), fit: .cover, size: (400, 100),
            cut: PixelRect(left: 50, top: 0, width: 300, height: 100)),
        Case(picture: (5000, 4), box: (300, 300), fit: .contain, size: (300, 1), cut: nil),
        Case(picture: (1, 1), box: (300, 300), fit: .cover, size: (1, 1), cut: nil),
    ]

    @Test(arguments: cases) func `A picture meets its box`(row: Case) {
        let geometry = ThumbnailGeometry(
            imageWidth: row.picture.0, imageHeight: row.picture.1,
            box: ThumbnailRendition(width: row.box.0, height: row.box.1, fit: row.fit))
        #expect((geometry.width, geometry.height) == row.size)
        #expect(geometry.cut == row.cut)
    }
}

struct JPEGInterchangeTests {
    @Test func `The segment stands behind SOI, and only once`() {
        let bare: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0x00]
        let once = JFIFHeader.withHeader(bare)
        #expect(once.starts(with: [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10]) && once.count == bare.count + 18)
        #expect(once.suffix(3) == bare.suffix(3))
        #expect(JFIFHeader.withHeader(once) == once)
    }
}
