import MediaLibraries
import MediaTypes

/// The silhouette of a drawing, of which a status bar shows only the transparency: white on nothing, square.
struct Silhouette {
    private let side: Int
    /// The opacity of each pixel of the square.
    private let opacity: [UInt8]

    /// Differences of a color up to this, in 8-bit steps over all bands, are noise of compression.
    private static let noise = 24
    /// Differences from the background from which there is a drawing.
    private static let drawingMin = 96

    /// Nil for an opaque image whose corners differ: it has no background.
    ///
    /// - Parameter side: Pixels of the square.
    init?(of image: Image, side: Int) throws {
        let small = try image.reduced(width: side, height: side).inMemory()
        let (width, height, bands) = (small.width, small.height, small.bands)
        let pixels = try small.withPixels { span in (0..<span.byteCount).map { span.byte($0) } }
        let found =
            try small.hasTransparency()
            ? stride(from: bands - 1, to: pixels.count, by: bands).map { pixels[$0] }
            : Self.drawing(pixels, width: width, height: height, bands: small.hasAlpha ? bands - 1 : bands, step: bands)
        guard let found else { return nil }
        var square = [UInt8](repeating: 0, count: side * side)
        let (left, top) = ((side - width) / 2, (side - height) / 2)
        for row in 0..<height {
            for column in 0..<width {
                square[(top + row) * side + left + column] = found[row * width + column]
            }
        }
        (self.side, opacity) = (side, square)
    }

    func image() throws -> Image {
        try Image.wrap(
            pixels: opacity.flatMap { [255, 255, 255, $0] }, width: side, height: side, bands: 4, orientation: 1)
    }

    /// The opacity of what differs from the color of the corners.
    private static func drawing(_ pixels: [UInt8], width: Int, height: Int, bands: Int, step: Int) -> [UInt8]? {
        func color(column: Int, row: Int) -> [Int] {
            let start = (row * width + column) * step
            return (0..<bands).map { Int(pixels[start + $0]) }
        }
        func difference(_ one: [Int], _ other: [Int]) -> Int { zip(one, other).reduce(0) { $0 + abs($1.0 - $1.1) } }
        let background = color(column: 0, row: 0)
        let corners = [
            color(column: width - 1, row: 0), color(column: 0, row: height - 1),
            color(column: width - 1, row: height - 1),
        ]
        guard corners.allSatisfy({ difference($0, background) <= noise }) else { return nil }
        var differences: [Int] = []
        for row in 0..<height {
            for column in 0..<width { differences.append(difference(color(column: column, row: row), background)) }
        }
        let most = differences.max() ?? 0
        guard most >= drawingMin else { return nil }
        return differences.map { UInt8(max(0, $0 - noise) * 255 / (most - noise)) }
    }
}
