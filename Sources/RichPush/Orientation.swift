/// How a stored picture must be turned to stand upright: the eight values of EXIF's tag 0x0112.
///
/// Source: EXIF 2.32, 4.6.4 A, "Orientation"; a movie's display matrix is reduced to the same eight.
public enum Orientation: Int, Codable, Sendable, Hashable, CaseIterable {
    case upright = 1
    case mirrored = 2
    case rotated180 = 3
    case mirroredRotated180 = 4
    /// Mirrored left to right, then turned 270 degrees clockwise.
    case transposed = 5
    /// To be turned 90 degrees clockwise.
    case rotated90 = 6
    /// Mirrored left to right, then turned 90 degrees clockwise.
    case transversed = 7
    /// To be turned 270 degrees clockwise.
    case rotated270 = 8

    /// Whether width and height change places.
    public var swapsSides: Bool { rawValue >= 5 }

    /// The rectangle of the stored picture that shows what `rect` shows of the upright one.
    public func storedRect(ofUpright rect: ClippingRect) throws -> ClippingRect {
        let (x, y, width, height) = (rect.x, rect.y, rect.width, rect.height)
        // Bounded: floating point, which does not trap.
        let (right, bottom) = (max(0, 1 - x - width), max(0, 1 - y - height))
        return switch self {
        case .upright: rect
        case .mirrored: try ClippingRect(x: right, y: y, width: width, height: height)
        case .rotated180: try ClippingRect(x: right, y: bottom, width: width, height: height)
        case .mirroredRotated180: try ClippingRect(x: x, y: bottom, width: width, height: height)
        case .transposed: try ClippingRect(x: y, y: x, width: height, height: width)
        case .rotated90: try ClippingRect(x: y, y: right, width: height, height: width)
        case .transversed: try ClippingRect(x: bottom, y: right, width: height, height: width)
        case .rotated270: try ClippingRect(x: bottom, y: x, width: height, height: width)
        }
    }
}
