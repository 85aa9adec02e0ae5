/// Writes frames of a GIF: each one is what has changed since the one before, as the viewer sees that one.
struct GIFFrameWriter {
    private let width: Int
    private let height: Int
    private let settings: GIFSettings
    /// What the viewer sees before the next frame.
    private var shown: [IndexedColour]
    /// What it was meant to be.
    private var meant: [IndexedColour]
    private var finder: ColourFinder?

    init(width: Int, height: Int, settings: GIFSettings) {
        self.width = width
        self.height = height
        self.settings = settings
        shown = [IndexedColour](repeating: 0, count: width * height)
        meant = shown
        finder = settings.sharedPalette.map(ColourFinder.init)
    }

    /// The bytes of a frame.
    ///
    /// - Parameter next: The frame after it: where it shows less, this one has to be wiped away.
    mutating func write(_ frame: [IndexedColour], next: [IndexedColour]?, hundredths: Int) -> [UInt8] {
        let wiped = next.map { wipedArea(frame, $0) } ?? PixelArea()
        var area = changedArea(frame)
        area.include(wiped)
        // A frame without a change is still a frame.
        if area.isEmpty { area.include(x: 0, y: 0) }
        var pixels = choices(frame, area)
        let palette = palette(for: &pixels)
        var compressor = LZWCompressor(pixels, palette: palette, exactness: settings.exactness)
        let codes = compressor.compress()
        show(compressor.written, palette, area)
        meant = frame
        if !wiped.isEmpty { wipe(area) }
        return GIFBlocks.control(hundredths: hundredths, transparent: palette.transparent, wipes: !wiped.isEmpty)
            + GIFBlocks.image(area, palette: palette == settings.sharedPalette ? nil : palette, palette.rootBits, codes)
    }

    // MARK: What changes

    private func wipedArea(_ frame: [IndexedColour], _ next: [IndexedColour]) -> PixelArea {
        var area = PixelArea()
        for y in 0..<height {
            for x in 0..<width where next[y * width + x] == 0 && frame[y * width + x] != 0 { area.include(x: x, y: y) }
        }
        return area
    }

    private func changedArea(_ frame: [IndexedColour]) -> PixelArea {
        var area = PixelArea()
        let tolerance = settings.exactness.tolerance
        for y in 0..<height {
            for x in 0..<width {
                let place = y * width + x
                if keepingLoss(frame[place], at: place) > tolerance { area.include(x: x, y: y) }
            }
        }
        return area
    }

    /// What is lost when a pixel is left as it is. Where the source has not changed, nothing more than was lost before;
    /// else it counts from what is seen, so that losses do not add up.
    @inline(__always) private func keepingLoss(_ wanted: IndexedColour, at place: Int) -> Int32 {
        let seen = shown[place]
        if wanted == seen { return 0 }
        if wanted == 0 || seen == 0 { return PixelChoice.never }
        return wanted == meant[place] ? 0 : Int32(truncatingIfNeeded: wanted.distance(to: seen))
    }

    private func choices(_ frame: [IndexedColour], _ area: PixelArea) -> PixelChoice {
        var pixels = PixelChoice()
        let count = area.width * area.height
        pixels.wanted.reserveCapacity(count)
        pixels.keepingLoss.reserveCapacity(count)
        for y in area.rows {
            for x in area.columns {
                let place = y * width + x
                pixels.wanted.append(frame[place])
                pixels.keepingLoss.append(keepingLoss(frame[place], at: place))
            }
        }
        pixels.weight = [UInt8](repeating: 16, count: count)
        return pixels
    }

    // MARK: Colours

    /// The palette of a frame; the shared one unless one of its own is worth its bytes.
    private mutating func palette(for pixels: inout PixelChoice) -> GIFPalette {
        var shared: (pixels: PixelChoice, loss: Int)?
        if var finder {
            let loss = Self.choose(&pixels, &finder)
            self.finder = finder
            // A table of its own cannot save more than all of it.
            if loss == 0 || Float(loss) <= ownPrice { return finder.palette }
            shared = (pixels, loss)
        }
        var own = ColourFinder(ownPalette(pixels))
        let loss = Self.choose(&pixels, &own)
        guard let shared, let palette = finder?.palette else { return own.palette }
        if Float(shared.loss - loss) > ownPrice { return own.palette }
        pixels = shared.pixels
        return palette
    }

    /// What a frame's own table of colours costs.
    private var ownPrice: Float { settings.exactness.bitPrice * Float(settings.colours * 3 * 8) }

    /// Finds each pixel's best index and gives what all lose by it.
    private static func choose(_ pixels: inout PixelChoice, _ finder: inout ColourFinder) -> Int {
        pixels.best.removeAll(keepingCapacity: true)
        pixels.bestLoss.removeAll(keepingCapacity: true)
        let transparent = finder.palette.transparent
        var sum = 0
        for index in 0..<pixels.count {
            let (wanted, keeping) = (pixels.wanted[index], pixels.keepingLoss[index])
            guard wanted != 0, keeping != 0 else {
                pixels.best.append(transparent ?? 0)
                pixels.bestLoss.append(0)
                continue
            }
            var best = finder.index(of: wanted)
            var loss = Int32(truncatingIfNeeded: finder.palette.colours[Int(best)].distance(to: wanted))
            if keeping <= loss || best == transparent, let transparent { (best, loss) = (transparent, keeping) }
            pixels.best.append(best)
            pixels.bestLoss.append(loss)
            sum += Int(loss)
        }
        return sum
    }

    /// Made for what has changed; what stays has the colours it has.
    private func ownPalette(_ pixels: PixelChoice) -> GIFPalette {
        var histogram = ColourHistogram()
        var keeps = false
        for index in 0..<pixels.count {
            if pixels.keepingLoss[index] <= settings.exactness.tolerance {
                keeps = true
            } else if pixels.wanted[index] != 0 {
                histogram.add(pixels.wanted[index])
            }
        }
        let room = settings.colours - (keeps ? 1 : 0)
        return GIFPalette(ColourQuantiser.colours(of: histogram, count: room), hasTransparency: keeps)
    }

    // MARK: What is seen

    private mutating func show(_ indexes: [UInt8], _ palette: GIFPalette, _ area: PixelArea) {
        var position = 0
        for y in area.rows {
            for x in area.columns {
                let index = indexes[position]
                position += 1
                if index != palette.transparent { shown[y * width + x] = palette.colours[Int(index)] }
            }
        }
    }

    private mutating func wipe(_ area: PixelArea) {
        for y in area.rows {
            for x in area.columns { shown[y * width + x] = 0 }
        }
    }
}
