import JPEG
import RichPush

/// Stands a component upright.
enum PlaneTurn {
    /// In squares, so that neither side is read or written far apart.
    private static let side = 32

    static func upright(_ plane: JPEGPlane, _ orientation: Orientation) -> JPEGPlane {
        guard orientation != .upright else { return plane }
        let swaps = orientation.swapsSides
        let (width, height) = swaps ? (plane.height, plane.width) : (plane.width, plane.height)
        let walk = Walk(orientation, width: plane.width, height: plane.height)
        let samples = unsafe [UInt8](unsafeUninitializedCapacity: width * height) { target, filled in
            unsafe plane.samples.withUnsafeBufferPointer { source in
                for top in stride(from: 0, to: height, by: side) {
                    for left in stride(from: 0, to: width, by: side) {
                        for row in top..<min(top + side, height) {
                            var place = walk.origin &+ row &* walk.down &+ left &* walk.across
                            for column in left..<min(left + side, width) {
                                unsafe target[row &* width &+ column] = source[place]
                                place &+= walk.across
                            }
                        }
                    }
                }
            }
            filled = width * height
        }
        return JPEGPlane(width: width, height: height, samples: samples)
    }

    /// Where the samples of the upright plane stand in the stored one: the first, and the steps to the next across and
    /// down. Pure.
    private struct Walk {
        let origin: Int
        let across: Int
        let down: Int

        init(_ orientation: Orientation, width: Int, height: Int) {
            let (right, bottom) = (width - 1, (height - 1) * width)
            (origin, across, down) =
                switch orientation {
                case .upright: (0, 1, width)
                case .mirrored: (right, -1, width)
                case .rotated180: (bottom + right, -1, -width)
                case .mirroredRotated180: (bottom, 1, -width)
                case .transposed: (0, width, 1)
                case .rotated90: (bottom, -width, 1)
                case .transversed: (bottom + right, -width, -1)
                case .rotated270: (right, width, -1)
                }
        }
    }
}
