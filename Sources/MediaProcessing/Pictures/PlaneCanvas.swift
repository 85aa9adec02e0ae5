import JPEG
import LibAV

/// The components of a picture, into which tiles are laid; 8 bits a sample.
final class PlaneCanvas {
    private let width: Int
    private let height: Int
    private let format: PixelFormat
    /// Samples of luma that stand for one of chroma.
    private let across: Int
    private let down: Int
    private var components: [[UInt8]]
    let coding: Frame.Coding

    // Bounded throughout: `PictureLimits` have been checked, chroma stands for one or two samples
    // (`PixelFormat.chroma`), and a tile's first sample lies on the canvas where it has columns and rows there.

    /// Nil for components of a kind that JPEG does not know.
    init?(for frame: Frame, width: Int, height: Int) {
        guard let format = frame.pixelFormat, let chroma = format.chroma, (8...16).contains(format.bitDepth) else {
            return nil
        }
        (self.width, self.height, self.format, coding) = (width, height, format, frame.coding)
        (across, down) = (chroma.across, chroma.down)
        let size = (width + across - 1) / across * ((height + down - 1) / down)
        components = [[UInt8](repeating: 0, count: width * height)]
        if !format.isGrey { components += [[UInt8](repeating: 0, count: size), [UInt8](repeating: 0, count: size)] }
    }

    var planes: [JPEGPlane] {
        components.enumerated().map { number, samples in
            let (width, height) = self.size(number)
            return JPEGPlane(width: width, height: height, samples: samples)
        }
    }

    /// Lays a tile; what hangs over is left out.
    ///
    /// - Returns: Whether it is of the same kind as the first one.
    func place(_ tile: Frame, left: Int, top: Int) -> Bool {
        guard tile.pixelFormat == format, tile.coding == coding else { return false }
        for number in components.indices {
            let (across, down) = number == 0 ? (1, 1) : (self.across, self.down)
            // A tile that begins between two samples of chroma has none of its own there.
            guard left % across == 0, top % down == 0 else { return false }
            let (width, height) = size(number)
            let (firstColumn, firstRow) = (left / across, top / down)
            let columns = min(width - firstColumn, (tile.width + across - 1) / across)
            let rows = min(height - firstRow, (tile.height + down - 1) / down)
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

    private func size(_ component: Int) -> (width: Int, height: Int) {
        component == 0 ? (width, height) : ((width + across - 1) / across, (height + down - 1) / down)
    }
}
