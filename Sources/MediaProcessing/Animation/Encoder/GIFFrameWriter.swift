/// Writes frames of a GIF: each one is what has changed since the one before, as the viewer sees that one.
struct GIFFrameWriter {
    private let width: Int
    private let height: Int
    private let settings: GIFSettings
    /// What the viewer sees before the next frame.
    private let shown: NumberRow<IndexedColour>
    /// What it was meant to be.
    private var meant: [IndexedColour]
    private var finder: ColourFinder?

    init(width: Int, height: Int, settings: GIFSettings) {
        self.width = width
        self.height = height
        self.settings = settings
        shown = NumberRow(repeating: 0, count: width * height)
        meant = [IndexedColour](repeating: 0, count: width * height)
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
        unsafe frame.withUnsafeBufferPointer { frame in
            unsafe next.withUnsafeBufferPointer { next in
                PixelArea(width: width, height: height) { unsafe next[$0] == 0 && frame[$0] != 0 }
            }
        }
    }

    private func changedArea(_ frame: [IndexedColour]) -> PixelArea {
        let tolerance = Int32(settings.exactness.tolerance)
        return unsafe frame.withUnsafeBufferPointer { frame in
            unsafe meant.withUnsafeBufferPointer { meant in
                PixelArea(width: width, height: height) { place in
                    unsafe keepingLoss(frame[place], meant[place], at: place) > tolerance
                }
            }
        }
    }

    /// What is lost when a pixel is left as it is. Where the source has not changed, nothing more than was lost before;
    /// else it counts from what is seen, so that losses do not add up.
    @inline(__always)
    private func keepingLoss(_ wanted: IndexedColour, _ before: IndexedColour, at place: Int) -> Int32 {
        let seen = shown[place]
        if wanted == seen { return 0 }
        if wanted == 0 || seen == 0 { return PixelChoice.never }
        return wanted == before ? 0 : wanted.distance(to: seen)
    }

    private func choices(_ frame: [IndexedColour], _ area: PixelArea) -> PixelChoice {
        let pixels = PixelChoice(count: area.width * area.height)
        var position = 0
        for y in area.rows {
            for place in (y * width + area.left)...(y * width + area.right) {
                pixels.wanted[position] = frame[place]
                pixels.keepingLoss[position] = keepingLoss(frame[place], meant[place], at: place)
                position &+= 1
            }
        }
        return pixels
    }

    // MARK: Colours

    /// The palette of a frame; the shared one unless one of its own is worth its bytes.
    private mutating func palette(for pixels: inout PixelChoice) -> GIFPalette {
        var shared: (pixels: PixelChoice, loss: Int)?
        if var finder {
            let loss = pixels.choose(&finder)
            self.finder = finder
            // A table of its own cannot save more than all of it.
            if loss == 0 || Float(loss) <= ownPrice { return finder.palette }
            shared = (pixels, loss)
        }
        var own = ColourFinder(ownPalette(pixels))
        let loss = pixels.choose(&own)
        guard let shared, let palette = finder?.palette else { return own.palette }
        if Float(shared.loss - loss) > ownPrice { return own.palette }
        pixels = shared.pixels
        return palette
    }

    /// What a frame's own table of colours costs.
    private var ownPrice: Float { settings.exactness.bitPrice * Float(settings.colours * 3 * 8) }

    /// Made for what has changed; what stays has the colours it has.
    private func ownPalette(_ pixels: PixelChoice) -> GIFPalette {
        let tolerance = Int32(settings.exactness.tolerance)
        var keeps = false
        let changed = (0..<pixels.count).map { index -> IndexedColour in
            guard pixels.keepingLoss[index] <= tolerance else { return pixels.wanted[index] }
            keeps = true
            return 0
        }
        var histogram = ColourHistogram()
        histogram.add(pixels: changed)
        let room = settings.colours - (keeps ? 1 : 0)
        return GIFPalette(ColourQuantiser.colours(of: histogram, count: room), hasTransparency: keeps)
    }

    // MARK: What is seen

    private func show(_ indexes: NumberRow<UInt8>, _ palette: GIFPalette, _ area: PixelArea) {
        let transparent = palette.transparent.map(Int.init) ?? 256
        var position = 0
        for y in area.rows {
            for place in (y * width + area.left)...(y * width + area.right) {
                let index = Int(indexes[position])
                position &+= 1
                if index != transparent { shown[place] = palette.colours[index] }
            }
        }
    }

    private func wipe(_ area: PixelArea) {
        for y in area.rows {
            for x in area.columns { shown[y * width + x] = 0 }
        }
    }
}
