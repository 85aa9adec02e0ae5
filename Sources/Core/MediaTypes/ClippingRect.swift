import SafeArithmetic

/// The part of an image that its thumbnail shows, in unit coordinates of the upright image, origin top-left.
///
/// Valid when `0 <= x`, `0 <= y`, `x + width <= 1`, `y + height <= 1` and neither side is empty.
///
/// Source: Apple, `UNNotificationAttachmentOptionsThumbnailClippingRectKey`.
public struct ClippingRect: Sendable, Hashable {
    public let x: Double
    public let y: Double
    public let width: Double
    public let height: Double

    /// Allows for floating-point error in `x + width` and `y + height`, such as 0.7 + 0.3.
    private static let roundingTolerance = 1e-9

    /// Throws `ClippingRectError` unless the rectangle lies inside the unit square and is not empty.
    public init(x: Double, y: Double, width: Double, height: Double) throws {
        // An overhang within the tolerance is cut off; the remaining rectangle must not be empty.
        let isInside =
            x >= 0 && y >= 0 && min(width, 1 - x) > 0 && min(height, 1 - y) > 0
            && x + width <= 1 + Self.roundingTolerance && y + height <= 1 + Self.roundingTolerance
        guard isInside, [x, y, width, height].allSatisfy(\.isFinite) else {
            throw ClippingRectError(
                message: "The clipping rectangle \(x),\(y),\(width),\(height) is not inside the image; "
                    + "use values from 0 to 1 with x+width and y+height at most 1, and width and height over 0.")
        }
        self.x = x
        self.y = y
        self.width = min(width, 1 - x)
        self.height = min(height, 1 - y)
    }

    /// The rectangle in pixels of an image of the given size: never empty, never outside the image.
    public func pixels(width imageWidth: Int, height imageHeight: Int) -> PixelRect {
        let (columns, rows) = (max(imageWidth, 1), max(imageHeight, 1))
        let left = min(Int(clamping: (x * Double(columns)).rounded()), columns.subtracting(clamping: 1))
        let top = min(Int(clamping: (y * Double(rows)).rounded()), rows.subtracting(clamping: 1))
        let right = min(Int(clamping: ((x + width) * Double(columns)).rounded()), columns)
        let bottom = min(Int(clamping: ((y + height) * Double(rows)).rounded()), rows)
        return PixelRect(
            left: left, top: top, width: max(1, right.subtracting(clamping: left)),
            height: max(1, bottom.subtracting(clamping: top)))
    }
}

/// A rectangle in whole pixels, origin top-left.
public struct PixelRect: Codable, Sendable, Hashable {
    public let left: Int
    public let top: Int
    public let width: Int
    public let height: Int

    public init(left: Int, top: Int, width: Int, height: Int) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }
}

/// The JSON form in requests: `{"x": 0.25, "y": 0, "width": 0.5, "height": 1}`.
extension ClippingRect: Codable {
    private enum CodingKeys: String, CodingKey {
        case x, y, width, height
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            x: values.decode(Double.self, forKey: .x), y: values.decode(Double.self, forKey: .y),
            width: values.decode(Double.self, forKey: .width), height: values.decode(Double.self, forKey: .height))
    }
}

/// The keys of `CGRectCreateDictionaryRepresentation`, which iOS reads the clipping rectangle from.
package struct CoreGraphicsRect: Codable {
    let X: Double
    let Y: Double
    let Width: Double
    let Height: Double

    package init(_ rect: ClippingRect) {
        (X, Y, Width, Height) = (rect.x, rect.y, rect.width, rect.height)
    }

    package func clippingRect() throws -> ClippingRect {
        try ClippingRect(x: X, y: Y, width: Width, height: Height)
    }
}

/// The error for a clipping rectangle outside the unit square or without an area.
public struct ClippingRectError: Error, Sendable, Hashable {
    /// One sentence: the rectangle and what is allowed.
    public let message: String
}
