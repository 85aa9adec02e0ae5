/// How different two pictures look, whatever their sizes.
///
/// Both are laid over the same grid of 32 x 32 blocks; the mean colours of blocks in the same place are compared as
/// `TestColour.distance` does. Sharpness and coding noise vanish in the means; a wrong crop, rotation, frame or colour
/// does not. Sizes are not compared: check width and height beside it.
///
/// A JPEG of quality 75 or so is about 1 from its original in the mean and under 8 in the worst block; a picture that
/// is mirrored, turned or cut elsewhere is over 10 in the mean.
public struct PictureDistance: Sendable, Hashable {
    /// Mean over all blocks.
    public let mean: Double
    /// The worst block: catches a change in one corner that the mean forgives.
    public let blockMax: Double

    /// Blocks a side.
    public static let blocksPerSide = 32

    public init(_ a: TestPicture, _ b: TestPicture) {
        let distances = zip(Self.blocks(of: a), Self.blocks(of: b)).map { $0.distance(to: $1) }
        mean = distances.reduce(0, +) / Double(distances.count)
        blockMax = distances.max() ?? 0
    }

    private static func blocks(of picture: TestPicture) -> [TestColour] {
        (0..<blocksPerSide).flatMap { row in
            let (top, bottom) = span(row, of: picture.height)
            return (0..<blocksPerSide).map { column in
                let (left, right) = span(column, of: picture.width)
                return picture.meanColour(left: left, top: top, right: right, bottom: bottom)
            }
        }
    }

    /// The pixels of a block; at least one, so that pictures smaller than the grid compare too.
    private static func span(_ block: Int, of length: Int) -> (Int, Int) {
        let start = block * length / blocksPerSide
        return (start, max(start + 1, (block + 1) * length / blocksPerSide))
    }
}
