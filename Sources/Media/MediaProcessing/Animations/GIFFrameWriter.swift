/// Writes frames of a GIF, each as the changed rectangle relative to what the viewer sees.
struct GIFFrameWriter {
    private let width: Int
    private let height: Int
    private let settings: GIFSettings
    /// The canvas as the viewer sees it.
    private let shown: UnsafeArray<PackedColor>
    /// The source pixels of the last frame.
    private var source: [PackedColor]
    private var finder: NearestColorFinder?

    init(width: Int, height: Int, settings: GIFSettings) {
        self.width = width
        self.height = height
        self.settings = settings
        shown = UnsafeArray(repeating: 0, count: width * height)
        source = [PackedColor](repeating: 0, count: width * height)
        finder = settings.sharedPalette.map(NearestColorFinder.init)
    }

    /// Encodes a frame.
    ///
    /// - Parameter next: The following frame; where it is transparent, this one must be cleared.
    mutating func write(_ frame: [PackedColor], next: [PackedColor]?, hundredths: Int) -> [UInt8] {
        let wiped = next.map { wipedArea(frame, next: $0) } ?? PixelArea()
        var area = changedArea(frame)
        area.include(wiped)
        // A frame without changes must still be written.
        if area.isEmpty { area.include(x: 0, y: 0) }
        var pixels = choices(frame, area: area)
        let palette = palette(for: &pixels)
        var compressor = LZWEncoder(pixels, palette: palette, exactness: settings.exactness)
        let codes = compressor.compress()
        show(compressor.written, palette: palette, area: area)
        source = frame
        if !wiped.isEmpty { wipe(area) }
        return GIFBlocks.control(hundredths: hundredths, transparent: palette.transparent, wipes: !wiped.isEmpty)
            + GIFBlocks.image(
                area, palette: palette == settings.sharedPalette ? nil : palette, rootBits: palette.rootBits,
                codes: codes)
    }

    // MARK: Changed areas

    private func wipedArea(_ frame: [PackedColor], next: [PackedColor]) -> PixelArea {
        unsafe frame.withUnsafeBufferPointer { frame in
            unsafe next.withUnsafeBufferPointer { next in
                PixelArea(width: width, height: height) { unsafe next[$0] == 0 && frame[$0] != 0 }
            }
        }
    }

    private func changedArea(_ frame: [PackedColor]) -> PixelArea {
        let tolerance = Int32(settings.exactness.tolerance)
        return unsafe frame.withUnsafeBufferPointer { frame in
            unsafe source.withUnsafeBufferPointer { source in
                PixelArea(width: width, height: height) { pixelIndex in
                    unsafe keepingLoss(frame[pixelIndex], before: source[pixelIndex], at: pixelIndex) > tolerance
                }
            }
        }
    }

    /// The loss when a pixel is left unchanged. Where the source has not changed, it counts as no further loss;
    /// otherwise it is measured from what is visible, so that losses do not add up.
    @inline(__always)
    private func keepingLoss(_ wanted: PackedColor, before: PackedColor, at pixelIndex: Int) -> Int32 {
        let seen = shown[pixelIndex]
        if wanted == seen { return 0 }
        if wanted == 0 || seen == 0 { return PixelCandidates.never }
        return wanted == before ? 0 : wanted.distance(to: seen)
    }

    private func choices(_ frame: [PackedColor], area: PixelArea) -> PixelCandidates {
        let pixels = PixelCandidates(count: area.width * area.height)
        var position = 0
        for y in area.rows {
            for pixelIndex in (y * width + area.left)...(y * width + area.right) {
                pixels.wanted[position] = frame[pixelIndex]
                pixels.keepingLoss[position] = keepingLoss(
                    frame[pixelIndex], before: source[pixelIndex], at: pixelIndex)
                position &+= 1
            }
        }
        return pixels
    }

    // MARK: Colors

    /// The palette of a frame: the shared one, unless an own palette is worth its bytes.
    private mutating func palette(for pixels: inout PixelCandidates) -> GIFPalette {
        var shared: (pixels: PixelCandidates, loss: Int)?
        if var finder {
            let loss = pixels.choose(&finder)
            self.finder = finder
            // An own table cannot save more than the whole loss.
            if loss == 0 || Float(loss) <= ownPrice { return finder.palette }
            shared = (pixels, loss)
        }
        var own = NearestColorFinder(ownPalette(pixels))
        let loss = pixels.choose(&own)
        guard let shared, let palette = finder?.palette else { return own.palette }
        if Float(shared.loss - loss) > ownPrice { return own.palette }
        pixels = shared.pixels
        return palette
    }

    /// The cost of a frame's own color table.
    private var ownPrice: Float { settings.exactness.bitPrice * Float(settings.colors * 3 * 8) }

    /// A palette for the changed pixels; unchanged ones keep their colors.
    private func ownPalette(_ pixels: PixelCandidates) -> GIFPalette {
        let tolerance = Int32(settings.exactness.tolerance)
        var keeps = false
        let changed = (0..<pixels.count).map { index -> PackedColor in
            guard pixels.keepingLoss[index] <= tolerance else { return pixels.wanted[index] }
            keeps = true
            return 0
        }
        var histogram = ColorHistogram()
        histogram.add(pixels: changed)
        let capacity = settings.colors - (keeps ? 1 : 0)
        return GIFPalette(ColorQuantizer.colors(of: histogram, count: capacity), hasTransparency: keeps)
    }

    // MARK: Visible canvas

    private func show(_ indexes: UnsafeArray<UInt8>, palette: GIFPalette, area: PixelArea) {
        let transparent = palette.transparent.map(Int.init) ?? 256
        var position = 0
        for y in area.rows {
            for pixelIndex in (y * width + area.left)...(y * width + area.right) {
                let index = Int(indexes[position])
                position &+= 1
                if index != transparent { shown[pixelIndex] = palette.colors[index] }
            }
        }
    }

    private func wipe(_ area: PixelArea) {
        for y in area.rows {
            for x in area.columns { shown[y * width + x] = 0 }
        }
    }
}

/// How exactly a GIF's pixels are written.
struct GIFExactness: Sendable, Hashable {
    /// Weighted distance that a pixel may have beyond that of its best palette color; 0 for none.
    let tolerance: Int
    /// The weighted distance that saving one bit may cost.
    let bitPrice: Float

    static let exact = GIFExactness(level: 0)

    /// - Parameter level: Steps of 8-bit components by which a gray may differ, 0 for none.
    init(level: Double) {
        let distance = level * level * Double(PackedColor.distanceScale)
        tolerance = Int(distance)
        // At zero the longest match would always win; a small value does the same, but prefers the better of two equal
        // ones.
        bitPrice = max(0.001, Float(distance * Self.priceShare))
    }

    /// The price of a bit as a share of the tolerance: determined by experiment.
    private static let priceShare = 0.15

    var isExact: Bool { tolerance == 0 }
}

/// The possible values for each pixel of a frame's rectangle.
struct PixelCandidates {
    /// The loss of an impossible choice.
    static let never = Int32.max

    /// The source color of each pixel; 0 where it is transparent.
    let wanted: UnsafeArray<PackedColor>
    /// The loss when the pixel is left as it is visible.
    let keepingLoss: UnsafeArray<Int32>
    /// The palette's best index for each pixel, and its distance.
    private(set) var best: UnsafeArray<UInt8>
    private(set) var bestLoss: UnsafeArray<Int32>

    var count: Int { wanted.count }

    init(count: Int) {
        wanted = UnsafeArray(repeating: 0, count: count)
        keepingLoss = UnsafeArray(repeating: 0, count: count)
        best = UnsafeArray(repeating: 0, count: 0)
        bestLoss = UnsafeArray(repeating: 0, count: 0)
    }

    /// Finds each pixel's best index and returns the total loss.
    mutating func choose(_ finder: inout NearestColorFinder) -> Int {
        let best = UnsafeArray<UInt8>(repeating: 0, count: count)
        let bestLoss = UnsafeArray<Int32>(repeating: 0, count: count)
        let transparent = finder.palette.transparent
        var sum = 0
        for index in 0..<count {
            let (wanted, keeping) = (wanted[index], keepingLoss[index])
            guard wanted != 0, keeping != 0 else {
                best[index] = transparent ?? 0
                continue
            }
            var (found, loss) = finder.nearest(to: wanted)
            if keeping <= loss || found == transparent, let transparent { (found, loss) = (transparent, keeping) }
            best[index] = found
            bestLoss[index] = loss
            sum &+= Int(loss)
        }
        (self.best, self.bestLoss) = (best, bestLoss)
        return sum
    }
}

/// A rectangle that grows to include pixels.
struct PixelArea: Hashable {
    private(set) var left = Int.max
    private(set) var top = Int.max
    private(set) var right = Int.min
    private(set) var bottom = Int.min

    init() {}

    /// The bounding box of all pixels for which `holds` is true; tests only those that can extend it.
    @inline(__always)
    init(width: Int, height: Int, holds: (Int) -> Bool) {
        for y in 0..<height {
            guard let first = (0..<width).first(where: { holds(y &* width &+ $0) }) else { continue }
            include(x: first, y: y)
            // Pixels between the known edges cannot extend the box.
            let known = max(right, first)
            if let last = (known + 1..<width).last(where: { holds(y &* width &+ $0) }) { include(x: last, y: y) }
        }
    }

    var isEmpty: Bool { right < left }
    var width: Int { right - left + 1 }
    var height: Int { bottom - top + 1 }
    var columns: ClosedRange<Int> { left...right }
    var rows: ClosedRange<Int> { top...bottom }

    @inline(__always) mutating func include(x: Int, y: Int) {
        if x < left { left = x }
        if x > right { right = x }
        if y < top { top = y }
        if y > bottom { bottom = y }
    }

    mutating func include(_ other: PixelArea) {
        guard !other.isEmpty else { return }
        include(x: other.left, y: other.top)
        include(x: other.right, y: other.bottom)
    }
}
