public import MediaTypes

/// The transform that displays a stored image upright: the eight values of EXIF tag 0x0112.
///
/// A movie's display matrix is reduced to the same eight values. Source: EXIF 2.32, 4.6.4 A, "Orientation".
public enum Orientation: Int, Codable, Sendable, Hashable, CaseIterable {
    case upright = 1
    case mirrored = 2
    case rotated180 = 3
    case mirroredRotated180 = 4
    /// Mirror left to right, then rotate 270 degrees clockwise.
    case transposed = 5
    /// Rotate 90 degrees clockwise.
    case rotated90 = 6
    /// Mirror left to right, then rotate 90 degrees clockwise.
    case transversed = 7
    /// Rotate 270 degrees clockwise.
    case rotated270 = 8

    /// Whether the transform swaps width and height.
    public var swapsSides: Bool { rawValue >= 5 }

    /// Converts a rectangle of the upright image to the same area of the stored image.
    public func storedRect(ofUpright rect: ClippingRect) throws -> ClippingRect {
        let (x, y, width, height) = (rect.x, rect.y, rect.width, rect.height)
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
