/// The segment by which a JPEG is known as JFIF, which libvips leaves out.
///
/// Some device SDKs know a JPEG only by the `FF D8 FF E0` of this form (`apple-attachments.md` 2.2).
///
/// Source: JPEG File Interchange Format 1.02, "JFIF APP0 marker".
package enum JPEGInterchange {
    /// APP0, 16 bytes long, version 1.01, square pixels without a unit, no thumbnail.
    static let segment: [UInt8] = [
        0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00,
    ]

    /// The same JPEG, beginning with SOI and APP0.
    package static func withHeader(_ jpeg: [UInt8]) -> [UInt8] {
        precondition(jpeg.starts(with: [0xFF, 0xD8]), "a JPEG begins with SOI")
        guard jpeg[3] != 0xE0 else { return jpeg }
        // Bounded: lists.
        return jpeg[..<2] + segment + jpeg[2...]
    }
}
