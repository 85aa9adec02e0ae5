/// The motif of `samples/media`, as drawn by `samples/make-media`.
public enum SampleMotif {
    /// The colors of the cells 1 to 12.
    public static let colors: [TestColor] = [
        0xd62728, 0xff7f0e, 0xf2c811, 0x8bc34a, 0x1b7f3b, 0x1aa6a6,
        0x4fc3f7, 0x1f4fbf, 0x5e35b1, 0xd81b9a, 0x8d5a3b, 0x7f7f7f,
    ].map(TestColor.init(hex:))

    /// The frame rate of the movies.
    public static let framesPerSecond = 25.0

    /// The number (1 to 12) of the cell whose color is nearest to the image's color at a point.
    public static func cell(in image: TestImage, atUnitX x: Double, y: Double) -> Int {
        let color = image.color(atUnitX: x, y: y)
        let distances = colors.map { $0.distance(to: color) }
        let nearest = distances.indices.min { distances[$0] < distances[$1] } ?? 0
        return nearest + 1
    }

    /// The numbers of the cells in an image, row by row, when it is divided into `columns` and `rows`.
    ///
    /// Colors are sampled near the upper left corner of each cell, away from its number and clock.
    public static func cells(in image: TestImage, columns: Int = 4, rows: Int = 3) -> [Int] {
        (0..<rows).flatMap { row in
            (0..<columns).map { column in
                cell(
                    in: image, atUnitX: (Double(column) + 0.08) / Double(columns),
                    y: (Double(row) + 0.06) / Double(rows))
            }
        }
    }

    /// The frame number in a frame of a movie or animation: eight squares along its lower edge, white is 1, the highest
    /// bit is on the left.
    public static func frameNumber(in image: TestImage) -> Int {
        (0..<8).reduce(0) { number, square in
            let color = image.color(atUnitX: (Double(square) + 0.5) / 8, y: 0.975)
            return number * 2 + (color.green > 127 ? 1 : 0)
        }
    }
}
