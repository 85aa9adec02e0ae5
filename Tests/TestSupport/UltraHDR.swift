import Foundation

/// JPEGs with a gain map, as phones write them (Ultra HDR 1.0): an SDR image, XMP and an MPF index that refer to a
/// second JPEG behind it.
public enum UltraHDR {
    private typealias Bytes = MediaBytes

    /// The SDR image with the gain map behind it.
    public static func joined(base: [UInt8], gainMap: [UInt8]) -> [UInt8] {
        let attributes =
            #"hdrgm:Version="1.0" hdrgm:GainMapMin="0" hdrgm:GainMapMax="3" hdrgm:Gamma="1" hdrgm:HDRCapacityMax="3""#
        let map = insert(xmp(attributes, ""), into: gainMap)
        let directory =
            "<Container:Directory><rdf:Seq><rdf:li rdf:parseType=\"Resource\"><Container:Item Item:Semantic=\"Primary\""
            + " Item:Mime=\"image/jpeg\"/></rdf:li><rdf:li rdf:parseType=\"Resource\"><Container:Item"
            + " Item:Semantic=\"GainMap\" Item:Mime=\"image/jpeg\" Item:Length=\"\(map.count)\"/></rdf:li></rdf:Seq>"
            + "</Container:Directory>"
        let described = insert(xmp(#"hdrgm:Version="1.0""#, directory), into: base)
        let indexBytes = 4 + 4 + index(baseBytes: 0, mapBytes: 0).count
        let baseBytes = described.count + indexBytes
        let segment = Bytes.jpeg(0xE2, Bytes.text("MPF\0") ++ index(baseBytes: baseBytes, mapBytes: map.count))
        return insert(segment, into: described) ++ map
    }

    private static func xmp(_ attributes: String, _ content: String) -> [UInt8] {
        let text =
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
            + "<rdf:Description xmlns:hdrgm=\"http://ns.adobe.com/hdr-gain-map/1.0/\""
            + " xmlns:Container=\"http://ns.google.com/photos/1.0/container/\""
            + " xmlns:Item=\"http://ns.google.com/photos/1.0/container/item/\" \(attributes)>\(content)"
            + "</rdf:Description></rdf:RDF></x:xmpmeta>"
        return Bytes.jpeg(0xE1, Bytes.text("http://ns.adobe.com/xap/1.0/\0\(text)"))
    }

    /// Inserts a segment behind the JFIF header, as writers do.
    private static func insert(_ segment: [UInt8], into file: [UInt8]) -> [UInt8] {
        let end = file[3] == 0xE0 ? 4 + (Int(file[4]) << 8 | Int(file[5])) : 2
        return Array(file[..<end]) ++ segment ++ Array(file[end...])
    }

    /// CIPA DC-007: a big-endian TIFF directory with version, number of images, and an entry of 16 bytes for each.
    private static func index(baseBytes: Int, mapBytes: Int) -> [UInt8] {
        let entries =
            Bytes.bigEndian(0x0003_0000, 4) ++ Bytes.bigEndian(baseBytes, 4) ++ Bytes.zeros(8)
            ++ Bytes.zeros(4) ++ Bytes.bigEndian(mapBytes, 4) ++ Bytes.bigEndian(max(0, baseBytes - 60), 4)
            ++ Bytes.zeros(4)
        let directory =
            [0, 3] ++ [0xB0, 0, 0, 7, 0, 0, 0, 4] ++ Bytes.text("0100") ++ [0xB0, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2]
            ++ [0xB0, 2, 0, 7, 0, 0, 0, 32, 0, 0, 0, 50] ++ Bytes.zeros(4)
        return Bytes.text("MM") ++ [0, 42, 0, 0, 0, 8] ++ directory ++ entries
    }
}
