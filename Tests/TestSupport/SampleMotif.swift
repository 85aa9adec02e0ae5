/// The motif of `samples/media`, as `samples/make-media` paints it.
public enum SampleMotif {
    /// The colours of the cells 1 to 12.
    public static let colours: [TestColour] = [
        0xd62728, 0xff7f0e, 0xf2c811, 0x8bc34a, 0x1b7f3b, 0x1aa6a6,
        0x4fc3f7, 0x1f4fbf, 0x5e35b1, 0xd81b9a, 0x8d5a3b, 0x7f7f7f,
    ].map(TestColour.init(hex:))

    /// Frames a second of the movies.
    public static let framesPerSecond = 25.0

    /// The number (1 to 12) of the cell whose colour is shown there, by its nearest colour.
    public static func cell(in picture: TestPicture, atUnitX x: Double, y: Double) -> Int {
        let colour = picture.colour(atUnitX: x, y: y)
        let distances = colours.map { $0.distance(to: colour) }
        let nearest = distances.indices.min { distances[$0] < distances[$1] } ?? 0
        return nearest + 1
    }

    /// The numbers of the cells that a picture shows, row by row, when it is cut into so many columns and rows.
    ///
    /// Colours are taken near the upper left corner of each cell, clear of number and clock.
    public static func cells(in picture: TestPicture, columns: Int = 4, rows: Int = 3) -> [Int] {
        (0..<rows).flatMap { row in
            (0..<columns).map { column in
                cell(
                    in: picture, atUnitX: (Double(column) + 0.08) / Double(columns),
                    y: (Double(row) + 0.06) / Double(rows))
            }
        }
    }

    /// The frame number a movie or an animation shows: eight squares along its lower edge, white is 1, the highest bit
    /// is on the left.
    public static func frameNumber(in picture: TestPicture) -> Int {
        (0..<8).reduce(0) { number, square in
            let colour = picture.colour(atUnitX: (Double(square) + 0.5) / 8, y: 0.975)
            return number * 2 + (colour.green > 127 ? 1 : 0)
        }
    }
}
