import MediaLibraries

/// The components of an image into which tiles are copied; 8 bits a sample.
final class PlanarCanvas {
    private let width: Int
    private let height: Int
    private let format: PixelFormat
    /// Luma samples per chroma sample.
    private let horizontalSubsampling: Int
    private let verticalSubsampling: Int
    private var components: [[UInt8]]
    let coding: Frame.Coding

    /// 2 for half of the size.
    private let divisor: Int

    /// Nil for a pixel format that JPEG cannot store.
    init?(for frame: Frame, width wholeWidth: Int, height wholeHeight: Int, halves: Bool) {
        divisor = halves ? 2 : 1
        let (width, height) = ((wholeWidth + divisor - 1) / divisor, (wholeHeight + divisor - 1) / divisor)
        guard let format = frame.pixelFormat, let chroma = format.chroma, (8...16).contains(format.bitDepth) else {
            return nil
        }
        (self.width, self.height, self.format, coding) = (width, height, format, frame.coding)
        (horizontalSubsampling, verticalSubsampling) = (chroma.horizontalSubsampling, chroma.verticalSubsampling)
        let size =
            (width + horizontalSubsampling - 1) / horizontalSubsampling
            * ((height + verticalSubsampling - 1) / verticalSubsampling)
        components = [[UInt8](repeating: 0, count: width * height)]
        if !format.isGray { components += [[UInt8](repeating: 0, count: size), [UInt8](repeating: 0, count: size)] }
    }

    var planes: [JPEGPlane] {
        components.enumerated().map { number, samples in
            let (width, height) = self.size(number)
            return JPEGPlane(width: width, height: height, samples: samples)
        }
    }

    /// Copies a tile onto the canvas, clipped to its edges.
    ///
    /// - Returns: Whether it has the same format as the first one.
    func place(_ tile: Frame, left: Int, top: Int) -> Bool {
        guard tile.pixelFormat == format, tile.coding == coding else { return false }
        if divisor > 1 { return placeReduced(tile, left: left, top: top) }
        for number in components.indices {
            let (horizontal, vertical) = number == 0 ? (1, 1) : (horizontalSubsampling, verticalSubsampling)
            // A tile that begins between two chroma samples cannot be placed.
            guard left % horizontal == 0, top % vertical == 0 else { return false }
            let (width, height) = size(number)
            let (firstColumn, firstRow) = (left / horizontal, top / vertical)
            let columns = min(width - firstColumn, (tile.width + horizontal - 1) / horizontal)
            let rows = min(height - firstRow, (tile.height + vertical - 1) / vertical)
            guard columns > 0, rows > 0 else { return false }
            unsafe components[number].withUnsafeMutableBufferPointer { samples in
                guard let base = samples.baseAddress else { return }
                unsafe tile.copy(
                    component: number, columns: columns, rows: rows, to: base + firstRow * width + firstColumn,
                    stride: width)
            }
        }
        return true
    }

    private func placeReduced(_ tile: Frame, left: Int, top: Int) -> Bool {
        for number in components.indices {
            let (horizontal, vertical) = number == 0 ? (1, 1) : (horizontalSubsampling, verticalSubsampling)
            guard left % (horizontal * divisor) == 0, top % (vertical * divisor) == 0 else { return false }
            let tileWidth = (tile.width + horizontal - 1) / horizontal
            let tileHeight = (tile.height + vertical - 1) / vertical
            let samples = unsafe [UInt8](unsafeUninitializedCapacity: tileWidth * tileHeight) { target, filled in
                if let base = target.baseAddress {
                    unsafe tile.copy(
                        component: number, columns: tileWidth, rows: tileHeight, to: base, stride: tileWidth)
                }
                filled = tileWidth * tileHeight
            }
            let small = PlaneBoxFilter.shrink(
                JPEGPlane(width: tileWidth, height: tileHeight, samples: samples), by: divisor)
            let (width, height) = size(number)
            let (firstColumn, firstRow) = (left / horizontal / divisor, top / vertical / divisor)
            let columns = min(width - firstColumn, small.width)
            for row in 0..<min(height - firstRow, small.height) {
                let (from, to) = (row * small.width, (firstRow + row) * width + firstColumn)
                components[number].replaceSubrange(to..<to + columns, with: small.samples[from..<from + columns])
            }
        }
        return true
    }

    private func size(_ component: Int) -> (width: Int, height: Int) {
        component == 0
            ? (width, height)
            : (
                (width + horizontalSubsampling - 1) / horizontalSubsampling,
                (height + verticalSubsampling - 1) / verticalSubsampling
            )
    }
}
