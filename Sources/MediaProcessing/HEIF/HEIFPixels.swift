import JPEG
import LibAV
import RichPush
import SafeArithmetic

/// Decodes the tiles of a plain HEIF into the components of one picture, as they are stored.
///
/// One decoder does all of them: a new one for each takes as long as a small tile itself.
struct HEIFPixels {
    /// Tiles that are decoded beside each other; a child has its core, and seldom two.
    private static let threadsMax = 2
    /// Bytes of a coded tile: 50 megapixels without loss.
    private static let tileBytesMax = 200_000_000

    private let heif: PlainHEIF
    private let window: ByteWindow
    private let deadline: ContinuousClock.Instant
    private let decoder: Decoder
    private let frame: Frame
    private var canvas: PlaneCanvas?
    private var placed = 0

    /// The components, and how their numbers are to be read; nil when something in the file is not as it was announced.
    ///
    /// - Throws: `LibAVError` when a tile cannot be decoded, `media.corrupt` when one is cut.
    static func decode(
        _ heif: PlainHEIF, _ window: ByteWindow, deadline: ContinuousClock.Instant
    ) throws -> (planes: [JPEGPlane], coding: Frame.Coding)? {
        var pixels = try HEIFPixels(heif, window, deadline: deadline)
        guard try pixels.decodeAll(), let canvas = pixels.canvas else { return nil }
        return (canvas.planes, canvas.coding)
    }

    private init(_ heif: PlainHEIF, _ window: ByteWindow, deadline: ContinuousClock.Instant) throws {
        (self.heif, self.window, self.deadline) = (heif, window, deadline)
        decoder = try Decoder.stills(
            heif.codec, configuration: heif.configuration, threads: min(heif.tiles.count, Self.threadsMax),
            pixelsMax: Limits.heifPixelsMax)
        frame = try Frame()
    }

    /// Whether each tile became a picture of the size that was announced.
    private mutating func decodeAll() throws -> Bool {
        for place in heif.tiles {
            try checkDeadline(deadline)
            guard try decoder.send(Packet.holding(bytes(at: place))), try placeAll() else { return false }
        }
        guard try decoder.send(nil) else { return false }
        return try placeAll() && placed == heif.tiles.count
    }

    /// Takes what is ready before the next tile is given: libdav1d forgets what waits when the end is told.
    private mutating func placeAll() throws -> Bool {
        while try decoder.receive(into: frame) == .frame {
            guard try placeNext() else { return false }
        }
        return true
    }

    private func bytes(at place: HEIFPlaces.Place) throws -> [UInt8] {
        guard place.reduce(0, { $0.adding(clamping: $1.count) }) <= Self.tileBytesMax else {
            throw window.broken("a tile's length")
        }
        return try place.flatMap { try window.all(in: $0) }
    }

    /// Pictures come out in the order in which they went in.
    private mutating func placeNext() throws -> Bool {
        guard placed < heif.tiles.count, !frame.isConcealed, !frame.isUnrecovered, frame.width == heif.tileWidth,
            frame.height == heif.tileHeight
        else { return false }
        if canvas == nil { canvas = PlaneCanvas(for: frame, width: heif.grid.width, height: heif.grid.height) }
        let (row, column) = placed.quotientAndRemainder(dividingBy: heif.grid.columns)
        // Bounded: by the sides of the whole, which `isCovered` has compared.
        let (left, top) = (column * heif.tileWidth, row * heif.tileHeight)
        guard canvas?.place(frame, left: left, top: top) == true else { return false }
        placed += 1
        return true
    }
}
