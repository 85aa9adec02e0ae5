package import RichPush

/// Files of the ISO base media family (MP4, QuickTime, HEIF, 3GP) by the brands of their `ftyp` box.
///
/// Source: ISO/IEC 14496-12, 4.3; the MP4 registration authority's list of brands.
package enum ISOBrand {
    /// The format of a file whose first box is one of the family's, or nil. Sound-only files are told apart later.
    package static func format(of first: FirstBytes) -> MediaFormat? {
        guard let box = first.code(at: 4) else { return nil }
        switch box {
        case "ftyp": return format(major: first.code(at: 8) ?? "", compatible: compatibleBrands(first))
        case "moov", "mdat", "wide", "skip", "pnot": return .quickTime
        case "free": return first.bigEndian32(at: 0) >= 8 ? .quickTime : nil
        case "styp", "moof", "sidx": return .mpeg4
        default: return nil
        }
    }

    private static func compatibleBrands(_ first: FirstBytes) -> [String] {
        let end = min(first.bigEndian32(at: 0), first.count, 256)
        // Bounded: 0 to 256.
        return stride(from: 16, to: max(16, end - 3), by: 4).compactMap(first.code(at:))
    }

    /// The decision, by the major brand first.
    package static func format(major: String, compatible: [String]) -> MediaFormat {
        switch major {
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": .heic
        case "avif", "avis": .avif
        case "mif1", "msf1", "mif2", "miaf", "1pic": stillFormat(compatible)
        case "qt  ": .quickTime
        case "M4A ", "M4B ", "M4P ": .mpeg4Audio
        case "M4V ", "M4VH", "M4VP": .m4v
        case "jp2 ", "jpx ", "jpm ", "mjp2": .jpeg2000
        case _ where major.hasPrefix("3gp") || major.hasPrefix("3gg") || major.hasPrefix("3gs"): .threeGPP
        case _ where major.hasPrefix("3g2"): .threeGPP2
        default: .mpeg4
        }
    }

    private static func stillFormat(_ compatible: [String]) -> MediaFormat {
        if compatible.contains("avif") || compatible.contains("avis") { return .avif }
        let coded = ["heic", "heix", "heim", "heis", "hevc", "hevx"]
        return compatible.contains(where: coded.contains) ? .heic : .heif
    }
}
