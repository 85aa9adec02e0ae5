/// Windows icons, built byte by byte.
public enum IconFile {
    private typealias Bytes = MediaBytes

    /// An icon of these images, each with the size of its entry.
    public static func icon(_ images: [(width: Int, height: Int, bytes: [UInt8])]) -> [UInt8] {
        var offset = 6 + 16 * images.count
        var directory: [UInt8] = []
        for image in images {
            directory += [UInt8(image.width & 255), UInt8(image.height & 255), 0, 0, 1, 0, 32, 0]
            directory += Bytes.littleEndian(image.bytes.count, 4) ++ Bytes.littleEndian(offset, 4)
            offset += image.bytes.count
        }
        return [0, 0, 1, 0] ++ Bytes.littleEndian(images.count, 2) ++ directory ++ images.flatMap(\.bytes)
    }

    /// The image of an icon in 24 bits: its rows from the lowest, in BGR, and its mask.
    public static func bitmap(
        width: Int, height: Int, depth: Int = 24, pixels: [UInt8], mask: [UInt8], declaredHeight: Int? = nil
    ) -> [UInt8] {
        Bytes.littleEndian(40, 4) ++ Bytes.littleEndian(width, 4) ++ Bytes.littleEndian(declaredHeight ?? height * 2, 4)
            ++ [1, 0, UInt8(depth), 0] ++ Bytes.zeros(24) ++ pixels ++ mask
    }
}
