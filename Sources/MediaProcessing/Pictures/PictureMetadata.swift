import Vips

/// Whether a picture carries what its pixels do not need, by the names libvips gives it.
enum PictureMetadata {
    private static let blocks = ["xmp-data", "iptc-data", "photoshop-data", "gif-comment", "image-description"]
    /// How it stands and how large it is printed.
    private static let plainTags = [
        "Orientation", "XResolution", "YResolution", "ResolutionUnit", "YCbCrPositioning", "ColorSpace", "ExifVersion",
        "FlashpixVersion", "FlashPixVersion", "ComponentsConfiguration", "PixelXDimension", "PixelYDimension",
        "ImageWidth", "ImageLength", "BitsPerSample", "Compression", "PhotometricInterpretation", "SamplesPerPixel",
        "PlanarConfiguration",
    ]

    static func isIn(_ picture: Picture) -> Bool {
        if blocks.contains(where: picture.has) { return true }
        return picture.fields.contains { name in
            name.hasPrefix("exif-ifd") && !plainTags.contains { name.hasSuffix("-\($0)") }
        }
    }
}
