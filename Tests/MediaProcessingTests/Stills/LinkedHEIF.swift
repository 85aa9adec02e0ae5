import Foundation
import TestSupport

@testable import MediaProcessing

/// A HEIC of several items that refer to each other, around the coded image of the sample: gain maps, tone maps, alpha
/// and metadata, as phones write them.
struct LinkedHEIF {
    struct Item {
        let type: String
        var data: [UInt8] = []
        /// Property boxes.
        var properties: [[UInt8]] = []
    }

    struct Reference {
        let type: String
        let from: Int
        let to: [Int]
    }

    /// In the order of their numbers, from 1 on; the first is the primary one.
    var items: [Item]
    var references: [Reference]
    /// Boxes after the others.
    var tail: [UInt8] = []

    private static let size = MediaBytes.fullBox("ispe", MediaBytes.bigEndian(800, 4) + MediaBytes.bigEndian(600, 4))
    static let exif = Item(type: "Exif", data: MediaBytes.zeros(4) + MediaBytes.text("MM") + [0, 42, 0, 0, 0, 8, 0, 0])
    static let xmp = Item(type: "mime", data: MediaBytes.text("<x:xmpmeta/>"))
    static let toneMap = Item(type: "tmap", data: MediaBytes.zeros(62), properties: [size])

    /// The coded image of the sample.
    static func image(_ properties: [[UInt8]] = []) throws -> Item {
        let sample = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("grid.heic"))))
        guard let heif = try HEIFItems(ByteWindow(bytes: sample, noun: "HEIF")),
            let extent = heif.locations[heif.primary]?.first, let content = heif.property("hvcC", of: heif.primary)
        else { throw GeneratedMedia.FixtureError(description: "unexpected sample") }
        let configuration = MediaBytes.box("hvcC", Array(sample[content]))
        return Item(type: "hvc1", data: Array(sample[extent]), properties: [configuration, size] + properties)
    }

    static func auxiliary(_ name: String) throws -> Item {
        try image([MediaBytes.fullBox("auxC", MediaBytes.text(name) + [0])])
    }

    static let alphaName = "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"

    func file() throws -> String { try GeneratedMedia.file("linked.heic", bytes: bytes()).path }

    func bytes() -> [UInt8] {
        let brand = MediaBytes.text("heic")
        let fileType = MediaBytes.box("ftyp", brand + MediaBytes.zeros(4) + MediaBytes.text("mif1") + brand)
        let length = meta(at: 0).count
        return fileType + meta(at: fileType.count + length + 8) + MediaBytes.box("mdat", items.flatMap(\.data)) + tail
    }

    private func meta(at offset: Int) -> [UInt8] {
        let handler = MediaBytes.fullBox("hdlr", MediaBytes.zeros(4) + MediaBytes.text("pict") + MediaBytes.zeros(13))
        let entries = items.enumerated().map { index, item in
            MediaBytes.fullBox(
                "infe",
                MediaBytes.bigEndian(index + 1, 2) + [0, 0] + MediaBytes.text(item.type) + [0]
                    + (item.type == "mime" ? MediaBytes.text("application/rdf+xml") + [0] : []), version: 2)
        }
        let list = MediaBytes.fullBox("iinf", MediaBytes.bigEndian(items.count, 2) + entries.flatMap { $0 })
        let links = references.map { reference in
            MediaBytes.box(
                reference.type,
                ([reference.from, reference.to.count] + reference.to).flatMap { MediaBytes.bigEndian($0, 2) })
        }
        let boxes = [
            handler, MediaBytes.fullBox("pitm", [0, 1]), list, described,
            MediaBytes.fullBox("iref", links.flatMap { $0 }), locations(at: offset),
        ]
        return MediaBytes.fullBox("meta", boxes.flatMap { $0 })
    }

    private var described: [UInt8] {
        var (number, links) = (0, [[UInt8]]())
        for (index, item) in items.enumerated() where !item.properties.isEmpty {
            let indexes = item.properties.indices.map { UInt8(number + $0 + 1) }
            links.append(MediaBytes.bigEndian(index + 1, 2) + [UInt8(indexes.count)] + indexes)
            number += indexes.count
        }
        return MediaBytes.box(
            "iprp",
            MediaBytes.box("ipco", items.flatMap { $0.properties.flatMap { $0 } })
                + MediaBytes.fullBox("ipma", MediaBytes.bigEndian(links.count, 4) + links.flatMap { $0 }))
    }

    private func locations(at offset: Int) -> [UInt8] {
        var start = offset
        let entries = items.enumerated().flatMap { index, item -> [UInt8] in
            defer { start += item.data.count }
            return [index + 1, 0, 1].flatMap { MediaBytes.bigEndian($0, 2) } + MediaBytes.bigEndian(start, 4)
                + MediaBytes.bigEndian(item.data.count, 4)
        }
        return MediaBytes.fullBox("iloc", [0x44, 0] + MediaBytes.bigEndian(items.count, 2) + entries)
    }
}
