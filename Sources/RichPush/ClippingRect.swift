/// The part of a picture that its thumbnail shows, in unit values of the upright picture, origin top-left.
///
/// Valid when `0 <= x`, `0 <= y`, `x + width <= 1`, `y + height <= 1` and neither side is empty.
///
/// Source: Apple, `UNNotificationAttachmentOptionsThumbnailClippingRectKey`.
public struct ClippingRect: Sendable, Hashable {
    public let x: Double
    public let y: Double
    public let width: Double
    public let height: Double

    /// Adding two decimal fractions may miss 1 by a rounding step: 0.7 + 0.3 must still be a valid edge.
    private static let roundingTolerance = 1e-9

    /// Throws `options.invalid_clipping_rect` unless the rectangle lies inside the unit square and is not empty.
    public init(x: Double, y: Double, width: Double, height: Double) throws {
        // What hangs over by a rounding step is cut off, and something has to be left.
        let isInside =
            x >= 0 && y >= 0 && min(width, 1 - x) > 0 && min(height, 1 - y) > 0
            && x + width <= 1 + Self.roundingTolerance && y + height <= 1 + Self.roundingTolerance
        guard isInside, [x, y, width, height].allSatisfy(\.isFinite) else {
            throw AttachPrepError(
                .optionsInvalidClippingRect,
                "The clipping rectangle \(x),\(y),\(width),\(height) does not lie inside the picture; "
                    + "use unit values with x+width and y+height at most 1 and both sides over 0.")
        }
        self.x = x
        self.y = y
        self.width = min(width, 1 - x)
        self.height = min(height, 1 - y)
    }

    /// The rectangle in pixels of a picture of that size: never empty, never outside.
    public func pixels(width pictureWidth: Int, height pictureHeight: Int) -> PixelRect {
        let left = min(Int((x * Double(pictureWidth)).rounded()), pictureWidth - 1)
        let top = min(Int((y * Double(pictureHeight)).rounded()), pictureHeight - 1)
        let right = min(Int(((x + width) * Double(pictureWidth)).rounded()), pictureWidth)
        let bottom = min(Int(((y + height) * Double(pictureHeight)).rounded()), pictureHeight)
        return PixelRect(left: left, top: top, width: max(1, right - left), height: max(1, bottom - top))
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

/// As requests spell it: `{"x": 0.25, "y": 0, "width": 0.5, "height": 1}`.
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
