/// What a HEIF says of the colours of its pictures, apart from the coded pictures themselves.
///
/// Source: ISO/IEC 14496-12, 12.1.5; ISO/IEC 23091-2 (the numbers).
struct HEIFColour: Hashable {
    /// Where an ICC profile lies.
    private(set) var profile: Range<Int>?
    private(set) var numbers: Numbers?

    struct Numbers: Hashable {
        let matrix: Int
        let isFullRange: Bool
    }

    /// No profile of a display is longer; those of printers are.
    private static let profileBytesMax = 1_000_000

    /// The first of each kind.
    init(_ properties: [HEIFItems.Property], _ window: ByteWindow) throws {
        for property in properties where property.type == "colr" {
            var reader = HEIFReader(property.content, window)
            switch try reader.characters(4) {
            case "prof", "rICC":
                if profile == nil, reader.rest.count <= Self.profileBytesMax { profile = reader.rest }
            case "nclx":
                // Primaries and curve, which libvips and viewers pass over: sRGB's, or there is a profile beside them.
                _ = try reader.number(4)
                let matrix = try reader.number(2)
                let isFull = try reader.number(1) >= 0x80
                if numbers == nil { numbers = Numbers(matrix: matrix, isFullRange: isFull) }
            default: break
            }
        }
    }
}
