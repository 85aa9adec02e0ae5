import AttachPrepModel
import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// Items that are not shown decide nothing about a HEIC: metadata, gain maps and tone maps, linked as iOS 18 does it.
@Suite struct HEIFLinkTests {
    /// References between the image (1), its gain map (2), a tone map (3) and metadata (4).
    static let links: [[LinkedHEIF.Reference]] = [
        [.init(type: "auxl", from: 2, to: [1]), .init(type: "cdsc", from: 4, to: [1])],
        [.init(type: "auxl", from: 2, to: [1]), .init(type: "cdsc", from: 4, to: [1, 3])],
        [.init(type: "auxl", from: 2, to: [1]), .init(type: "cdsc", from: 4, to: [3])],
        [.init(type: "auxl", from: 2, to: [1, 3]), .init(type: "cdsc", from: 4, to: [1])],
        [.init(type: "auxl", from: 2, to: [3]), .init(type: "cdsc", from: 4, to: [1])],
        [.init(type: "auxl", from: 2, to: [1]), .init(type: "cdsc", from: 4, to: [2, 1])],
    ]

    private func inspected(_ path: String) throws -> InspectedMedia? {
        try withDescriptor(URL(fileURLWithPath: path)) { descriptor in
            let call = MediaCall.inspect(InspectRequest(format: .heic, decodesStills: true))
            let answer = try MediaProcessor().perform(call, descriptors: [descriptor], deadline: .now + .seconds(30))
            guard case .inspected(let media, _) = answer else { return nil }
            return media
        }
    }

    private func linked(_ index: Int, primary: [[UInt8]] = [], metadata: LinkedHEIF.Item) throws -> LinkedHEIF {
        LinkedHEIF(
            items: [
                try LinkedHEIF.image(primary), try LinkedHEIF.auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap"),
                LinkedHEIF.toneMap, metadata,
            ],
            references: Self.links[index] + [.init(type: "dimg", from: 3, to: [1, 2])])
    }

    @Test(arguments: links.indices, [false, true])
    func `A HEIC is shown whatever its metadata refers to`(index: Int, isXMP: Bool) throws {
        let file = try linked(index, metadata: isXMP ? LinkedHEIF.xmp : LinkedHEIF.exif).file()
        let media = try #require(try inspected(file))
        #expect((media.width, media.height) == (800, 600) && !media.hasAlpha && media.hasMetadata == isXMP)
        let still = try RenderedStill(file, format: .heic, reencodes: true)
        #expect(SampleMotif.cells(in: try still.image(.attachment)) == Array(1...12))
        #expect(still.media.warnings.isEmpty)
    }

    @Test(arguments: links.indices)
    func `A derived image, which libheif decodes, is shown as well`(index: Int) throws {
        var heif = try linked(index, metadata: LinkedHEIF.exif)
        // The shown image is the coded one, turned by half.
        let size = MediaBytes.fullBox("ispe", MediaBytes.bigEndian(800, 4) + MediaBytes.bigEndian(600, 4))
        heif.items.append(heif.items[0])
        heif.items[0] = LinkedHEIF.Item(type: "iden", properties: [size, SyntheticHEIF.irot(2)])
        heif.references.append(.init(type: "dimg", from: 1, to: [5]))
        let still = try RenderedStill(heif.file(), format: .heic, reencodes: true)
        #expect([still.media.attachment?.width, still.media.attachment?.height] == [800, 600])
    }

    /// The alpha is the luma of the same image.
    @Test(arguments: [
        [], [SyntheticHEIF.irot(1)], [SyntheticHEIF.clap(width: 300, height: 200, right: 50, down: -30)],
        [SyntheticHEIF.clap(width: 299, height: 201, right: 50, down: -30), SyntheticHEIF.irot(3)],
    ])
    func `Alpha is kept in a turned and in a cropped image`(properties: [[UInt8]]) throws {
        let heif = LinkedHEIF(
            items: [try LinkedHEIF.image(properties), try LinkedHEIF.auxiliary(LinkedHEIF.alphaName)],
            references: [.init(type: "auxl", from: 2, to: [1])])
        let file = try heif.file()
        #expect(try inspected(file)?.hasAlpha == true)
        let still = try RenderedStill(file, format: .heic, reencodes: true)
        #expect(still.media.attachment?.type == .png)
        let image = try still.image(.attachment)
        let opaque = LinkedHEIF(items: [try LinkedHEIF.image(properties)], references: [])
        let reference = try RenderedStill(opaque.file(), format: .heic, reencodes: true).image(.attachment)
        #expect((image.width, image.height) == (reference.width, reference.height))
        for (x, y) in [(0.1, 0.1), (0.4, 0.6), (0.9, 0.3)] {
            let color = reference.color(atUnitX: x, y: y)
            let luma = 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue
            #expect(abs(image.alpha(atUnitX: x, y: y) - luma) < 25, "\(x), \(y)")
        }
    }

    @Test func `A HEIC with a sequence of images says that only its still is used`() throws {
        var heif = LinkedHEIF(items: [try LinkedHEIF.image()], references: [])
        heif.tail = MediaBytes.box("moov", MediaBytes.box("mvhd", MediaBytes.zeros(100)))
        let still = try RenderedStill(heif.file(), format: .heic, reencodes: true)
        #expect(still.media.warnings.map(\.code) == [.animationLost])
    }

    @Test func `A complete file that no decoder here reads is unsupported`() throws {
        var heif = LinkedHEIF(items: [try LinkedHEIF.image()], references: [])
        heif.items[0] = LinkedHEIF.Item(type: "jpeg", data: heif.items[0].data, properties: heif.items[0].properties)
        let file = try heif.file()
        let error = #expect(throws: AttachPrepError.self) { try inspected(file) }
        #expect(error?.code == .mediaUnsupported)
    }
}
