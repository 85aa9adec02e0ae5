import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Decodes a plain HEIF with libav.
///
/// libheif supports more variants, but decodes HEVC at half the speed, converts every tile to RGB, drops the alpha of a
/// turned or cropped image, and ignores primaries and curves.
enum HEIFDecoder {
    enum Decoded {
        /// Opaque and in SDR: the coded components.
        case components(PlanarImage)
        /// With alpha, or tone-mapped.
        case pixels(DecodedFrame)
    }

    /// Nil for a HEIF that is not plain or cannot be decoded this way; the file may still be intact.
    ///
    /// - Throws: `media.too_many_pixels`, `deadline.exceeded`.
    static func decode(source: CInt, format: MediaFormat, deadline: ContinuousClock.Instant) throws -> Decoded? {
        let window = try ByteWindow(descriptor: source, noun: "HEIF", deadline: deadline)
        guard let heif = try FastPath.attempt({ try PlainHEIF(window) }) else { return nil }
        try ImageLimits.check(heif, format: format)
        guard let alpha = try FastPath.attempt({ try HEIFAlpha(heif, window, deadline: deadline) }) else { return nil }
        let declared = heif.declaredTransfer
        if declared == nil || declared == .standard,
            let (planes, coding) = try FastPath.attempt({
                try HEIFTileDecoder.decode(heif, in: window, deadline: deadline)
            }
            ),
            let colors = try FastPath.attempt({ try HEIFColorConversion(heif, coding, window) })
        {
            return components(colors.inSRGB(heif.shown(planes)), heif: heif, alpha: alpha)
        }
        guard declared != .standard else { return nil }
        let mapped = try FastPath.attempt { try HEIFToneMapping(heif).decode(window, deadline: deadline) }
        return mapped.map { .pixels(alpha.added(to: heif.shown($0), of: heif)) }
    }

    private static func components(_ planes: [JPEGPlane], heif: PlainHEIF, alpha: HEIFAlpha) -> Decoded {
        if alpha.plane == nil, heif.canRotateComponents {
            return .components(
                PlanarImage(planes: planes, orientation: heif.orientation, isHalved: heif.isHalved))
        }
        let stored = PlanarImage(planes: planes, orientation: .upright)
        let frame = DecodedFrame(
            width: stored.width, height: stored.height, bands: 3, bytes: stored.rgb(), orientation: heif.orientation)
        return .pixels(alpha.added(to: frame, of: heif))
    }
}

/// The alpha of a plain HEIF.
struct HEIFAlpha {
    /// The shown part, in full range; nil for an opaque image.
    let plane: JPEGPlane?

    /// Nil for an alpha that is not plain, and for an image that is too large to hold with its alpha.
    init?(_ heif: PlainHEIF, _ window: ByteWindow, deadline: ContinuousClock.Instant) throws {
        guard heif.hasAlpha else {
            plane = nil
            return
        }
        guard heif.grid.width.multiplied(clamping: heif.grid.height) <= Limits.hdrTilePixelsMax,
            let image = try heif.alpha(),
            let (planes, coding) = try HEIFTileDecoder.decode(image, in: window, deadline: deadline, isAlpha: true)
        else { return nil }
        // Of HEVC, writers do not say that alpha has its full range.
        let full = image.codec == .hevc || coding.isFullRange ? planes : SampleRange.full(planes)
        let shown = heif.shown([full[0]])[0]
        plane = shown.samples.allSatisfy { $0 == .max } ? nil : shown
    }

    /// The image with its alpha, where it has one.
    func added(to frame: DecodedFrame, of heif: PlainHEIF) -> DecodedFrame {
        guard let plane, frame.bands == 3, (frame.width, frame.height) == (plane.width, plane.height) else {
            return frame
        }
        var colors = frame.bytes
        if heif.isPremultiplied {
            for index in colors.indices {
                let alpha = Int(plane.samples[index / 3])
                if alpha > 0 { colors[index] = UInt8(min(255, (Int(colors[index]) * 255 + alpha / 2) / alpha)) }
            }
        }
        return DecodedFrame(
            width: frame.width, height: frame.height, bands: 4,
            bytes: DeclaredColors.interleaved(colors, alpha: plane.samples), orientation: frame.orientation)
    }
}

/// Decodes the tiles of a plain HEIF in PQ or HLG, and tone-maps each to sRGB.
final class HEIFToneMapping {
    private let heif: PlainHEIF
    private var map: ToneMap?
    private let width: Int
    private let height: Int
    private var pixels: [UInt8]

    init(_ heif: PlainHEIF) {
        self.heif = heif
        // Of a large image that is a single tile, twelve bytes a pixel are in memory.
        let most = Double(Limits.hdrTilePixelsMax) / Double(heif.grid.width * heif.grid.height)
        let share = heif.tiles.count == 1 ? min(1, most.squareRoot()) : 1
        width = max(1, Int(clamping: Double(heif.grid.width) * share))
        height = max(1, Int(clamping: Double(heif.grid.height) * share))
        pixels = [UInt8](repeating: 0, count: width * height * 3)
    }

    /// Nil for an image that turns out not to be HDR.
    func decode(_ window: ByteWindow, deadline: ContinuousClock.Instant) throws -> DecodedFrame? {
        guard heif.tileWidth * heif.tileHeight <= Limits.hdrTilePixelsMax || heif.tiles.count == 1 else { return nil }
        // A reduced image has another aperture.
        guard heif.isWhole || width == heif.grid.width else { return nil }
        var tiles = try HEIFTileDecoder(heif, window, deadline: deadline)
        guard try tiles.decodeAll(place) else { return nil }
        return DecodedFrame(width: width, height: height, bands: 3, bytes: pixels, orientation: heif.orientation)
    }

    /// As the container declares them, else the coded image; BT.2020's without any.
    private func primaries(_ tile: Frame) -> ColorPrimaries {
        ColorPrimaries(code: heif.codePoints?.primaries ?? tile.coding.primaries) ?? .bt2020
    }

    private func place(_ tile: Frame, left: Int, top: Int) throws -> Bool {
        let transfer = heif.declaredTransfer ?? tile.transfer
        guard transfer != .standard, tile.pixelFormat?.isRGB == false else { return false }
        let map = map ?? ToneMap(transfer, primaries(tile))
        self.map = map
        if let codePoints = heif.codePoints {
            tile.describe(matrix: codePoints.matrix, isFullRange: codePoints.isFullRange)
        }
        let isAlone = heif.tiles.count == 1
        let (tileWidth, tileHeight) = isAlone ? (width, height) : (tile.width, tile.height)
        let mapped = map.sRGB(
            ofRGB16: try FrameScaler.pixels(of: tile, width: tileWidth, height: tileHeight, layout: .rgb16))
        let columns = min(tileWidth, width - left)
        for row in 0..<min(tileHeight, height - top) {
            let (from, to) = (row * tileWidth * 3, ((top + row) * width + left) * 3)
            pixels.replaceSubrange(to..<to + columns * 3, with: mapped[from..<from + columns * 3])
        }
        return true
    }
}

extension PlainHEIF {
    /// The shown part of an image of the whole grid.
    fileprivate func shown(_ frame: DecodedFrame) -> DecodedFrame {
        guard !isWhole, (frame.width, frame.height) == (grid.width, grid.height) else { return frame }
        let bytes = (0..<aperture.height).flatMap { row in
            let start = ((aperture.top + row) * frame.width + aperture.left) * frame.bands
            return frame.bytes[start..<(start + aperture.width * frame.bands)]
        }
        return DecodedFrame(
            width: aperture.width, height: aperture.height, bands: frame.bands, bytes: bytes,
            orientation: frame.orientation)
    }

    /// The shown part of the grid's components.
    fileprivate func shown(_ planes: [JPEGPlane]) -> [JPEGPlane] {
        if isWhole { return planes }
        return planes.map { plane in
            let horizontal = plane.width < grid.width ? 2 : 1
            let vertical = plane.height < grid.height ? 2 : 1
            let width = (aperture.width + horizontal - 1) / horizontal
            let height = (aperture.height + vertical - 1) / vertical
            let first = aperture.top / vertical * plane.width + aperture.left / horizontal
            let samples = (0..<height).flatMap { row in
                plane.samples[(first + row * plane.width)..<(first + row * plane.width + width)]
            }
            return JPEGPlane(width: width, height: height, samples: samples)
        }
    }

    /// The transfer curve according to the container; nil where only the coded image declares it.
    var declaredTransfer: StreamDescription.TransferFunction? {
        switch codePoints?.transfer {
        case nil, 0, 2: nil
        case 16: .perceptualQuantizer
        case 18: .hybridLogGamma
        default: .standard
        }
    }
}

extension Limits {
    /// Pixels of an HDR tile; a larger image that is a single tile is reduced to this size.
    static let hdrTilePixelsMax = 25_000_000
}

/// Decodes the tiles of a plain HEIF into the components of one image, as they are stored.
///
/// One decoder decodes all tiles: opening a decoder takes as long as decoding a small tile.
struct HEIFTileDecoder {
    /// Tiles that are decoded in parallel; a media process has one core, and seldom two.
    private static let threadsMax = 2
    /// Maximum bytes of a coded tile: 50 megapixels, lossless.
    private static let tileBytesMax = 200_000_000

    private let heif: PlainHEIF
    private let window: ByteWindow
    private let deadline: ContinuousClock.Instant
    private let decoder: Decoder
    private let frame: Frame
    private var placed = 0

    /// The components and their color coding; nil when a tile does not match the file's metadata.
    ///
    /// - Parameter isAlpha: Whether a curve that the coded image declares does not matter.
    /// - Throws: `LibAVError` when a tile cannot be decoded, `media.corrupt` when one is truncated.
    static func decode(
        _ heif: PlainHEIF, in window: ByteWindow, deadline: ContinuousClock.Instant, isAlpha: Bool = false
    ) throws -> (planes: [JPEGPlane], coding: Frame.Coding)? {
        var canvas: PlanarCanvas?
        var pixels = try HEIFTileDecoder(heif, window, deadline: deadline)
        let isWhole = try pixels.decodeAll { tile, left, top in
            if canvas == nil {
                // HDR that the container does not declare.
                guard isAlpha || heif.declaredTransfer != nil || tile.transfer == .standard else { return false }
                canvas = PlanarCanvas(
                    for: tile, width: heif.grid.width, height: heif.grid.height, halves: heif.isHalved)
            }
            return canvas?.place(tile, left: left, top: top) == true
        }
        guard isWhole, let canvas else { return nil }
        return (canvas.planes, canvas.coding)
    }

    init(_ heif: PlainHEIF, _ window: ByteWindow, deadline: ContinuousClock.Instant) throws {
        (self.heif, self.window, self.deadline) = (heif, window, deadline)
        decoder = try Decoder.stills(
            heif.codec, configuration: heif.configuration, threads: min(heif.tiles.count, Self.threadsMax),
            pixelsMax: Limits.heifPixelsMax)
        frame = try Frame()
    }

    /// Places a tile on a canvas; returns whether it fits there.
    typealias TilePlacement = (_ tile: Frame, _ left: Int, _ top: Int) throws -> Bool

    /// Whether each tile was decoded to the announced size, and placed.
    mutating func decodeAll(_ place: TilePlacement) throws -> Bool {
        for extents in heif.tiles {
            try checkDeadline(deadline)
            guard try decoder.send(Packet.holding(bytes(at: extents))), try placeAll(place) else { return false }
        }
        guard try decoder.send(nil) else { return false }
        return try placeAll(place) && placed == heif.tiles.count
    }

    /// Takes decoded tiles before the next one is sent: libdav1d drops pending frames when the end is signaled.
    private mutating func placeAll(_ place: TilePlacement) throws -> Bool {
        while try decoder.receive(into: frame) == .frame {
            guard try placeNext(place) else { return false }
        }
        return true
    }

    private func bytes(at extents: HEIFItemLocations.Extents) throws -> [UInt8] {
        guard extents.reduce(0, { $0.adding(clamping: $1.count) }) <= Self.tileBytesMax else {
            throw window.broken("a tile's length")
        }
        return try extents.flatMap { try window.all(in: $0) }
    }

    /// Frames are returned in the order in which tiles were sent.
    private mutating func placeNext(_ place: TilePlacement) throws -> Bool {
        guard placed < heif.tiles.count, !frame.isConcealed, !frame.isUnrecovered, frame.width == heif.tileWidth,
            frame.height == heif.tileHeight
        else { return false }
        let (row, column) = placed.quotientAndRemainder(dividingBy: heif.grid.columns)
        let (left, top) = (column * heif.tileWidth, row * heif.tileHeight)
        guard try place(frame, left, top) else { return false }
        placed += 1
        return true
    }
}

/// Converts the components of a HEIF to those of a JPEG in sRGB.
struct HEIFColorConversion {
    private let isFullRange: Bool
    /// Nil where luma and chroma already have the meaning they have in a JPEG.
    private let colorMatrix: ColorMatrix?
    /// Of an image without chroma: the sRGB byte of each luma; nil where it is the same.
    private let gray: [UInt8]?

    /// Nil for code points other than luma and chroma, and for a profile with more than primaries and curves.
    ///
    /// Primaries and curve are those of the profile, else of the container's code points (`nclx`), else of the coded
    /// image, else sRGB's. Matrix and range never come from the profile; BT.601's in the range that the coded image
    /// declares are the default.
    init?(_ heif: PlainHEIF, _ coding: Frame.Coding, _ window: ByteWindow) throws {
        isFullRange = heif.codePoints?.isFullRange ?? coding.isFullRange
        guard let matrix = LumaCoefficients(code: heif.codePoints?.matrix ?? coding.matrix) else { return nil }
        let bytes = try heif.profile.map { try window.all(in: $0) }
        let profile = bytes.flatMap { ICCProfile.isSRGB($0) ? nil : $0 }
        let description =
            heif.codePoints?.description ?? ColorDescription(primaries: coding.primaries, transfer: coding.transfer)
        let declared = bytes == nil && !description.isSRGB ? MatrixProfile(description) : nil
        let display: MatrixProfile?
        if let profile {
            guard let known = MatrixProfile(profile) else { return nil }
            display = known
        } else {
            display = declared
        }
        colorMatrix = matrix == .jpeg && display == nil ? nil : ColorMatrix(from: matrix, profile: display)
        gray = declared.map { $0.curves[0].map { UInt8(clamping: (ColorMatrix.coded($0) * 255).rounded()) } }
    }

    func inSRGB(_ planes: [JPEGPlane]) -> [JPEGPlane] {
        let full = isFullRange ? planes : SampleRange.full(planes)
        guard full.count == 3 else {
            // Gray needs no matrix. A profile's curve is taken as sRGB's, which today's displays use.
            guard let gray else { return full }
            return full.map { plane in
                JPEGPlane(width: plane.width, height: plane.height, samples: plane.samples.map { gray[Int($0)] })
            }
        }
        return colorMatrix?.apply(full) ?? full
    }
}
