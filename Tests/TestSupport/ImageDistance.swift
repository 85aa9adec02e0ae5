/// The perceptual difference of two images, independent of their sizes.
///
/// Both are divided into 32 x 32 blocks, whose mean colors are compared with `TestColor.distance`. The means hide
/// sharpness and coding noise, but not a wrong crop, rotation, frame or color. Sizes are not compared: check width and
/// height as well.
///
/// A JPEG of quality 75 differs from its original by about 1 in the mean and less than 8 in the worst block; an image
/// that is mirrored, rotated or cropped elsewhere differs by more than 10 in the mean.
public struct ImageDistance: Sendable, Hashable {
    /// Mean over all blocks.
    public let mean: Double
    /// The worst block: detects a change in one corner that hardly changes the mean.
    public let blockMax: Double

    /// Blocks per side.
    public static let blocksPerSide = 32

    public init(_ a: TestImage, _ b: TestImage) {
        let distances = zip(Self.blocks(of: a), Self.blocks(of: b)).map { $0.distance(to: $1) }
        mean = distances.reduce(0, +) / Double(distances.count)
        blockMax = distances.max() ?? 0
    }

    private static func blocks(of image: TestImage) -> [TestColor] {
        (0..<blocksPerSide).flatMap { row in
            let (top, bottom) = span(row, of: image.height)
            return (0..<blocksPerSide).map { column in
                let (left, right) = span(column, of: image.width)
                return image.meanColor(left: left, top: top, right: right, bottom: bottom)
            }
        }
    }

    /// The pixels of a block; at least one, so that images smaller than the grid can be compared.
    private static func span(_ block: Int, of length: Int) -> (Int, Int) {
        let start = block * length / blocksPerSide
        return (start, max(start + 1, (block + 1) * length / blocksPerSide))
    }
}
