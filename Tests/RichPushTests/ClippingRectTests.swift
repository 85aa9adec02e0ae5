import AttachPrepModel
import MediaTypes
import Testing

@testable import MediaEngine

struct ClippingRectTests {
    @Test(arguments: [(0.0, 0.0, 1.0, 1.0), (0.25, 0, 0.5, 1), (0.7, 0.1, 0.3, 0.9), (0.9, 0.9, 0.1, 0.1)])
    func `A rectangle inside the unit square is valid, edges included`(x: Double, y: Double, w: Double, h: Double)
        throws
    {
        let rect = try ClippingRect(x: x, y: y, width: w, height: h)
        #expect(rect.x + rect.width <= 1 && rect.y + rect.height <= 1)
    }

    @Test(arguments: [
        (-0.1, 0.0, 0.5, 0.5), (0, 0, 0, 1), (0, 0, 1, 0), (0.6, 0, 0.5, 1), (0, 0.6, 1, 0.5), (0, 0, 2, 1),
        (.nan, 0, 0.5, 0.5), (0, 0, .infinity, 1), (0, 0, -0.5, 1),
    ])
    func `A rectangle outside the unit square, empty or not finite is rejected`(
        x: Double, y: Double, w: Double, h: Double
    ) {
        let error = #expect(throws: ClippingRectError.self) { try ClippingRect(x: x, y: y, width: w, height: h) }
        #expect(error.map { AttachPrepError($0).code } == .optionsInvalidClippingRect)
    }

    @Test func `The rectangle is scaled to the pixels of the image`() throws {
        let rect = try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1)
        #expect(rect.pixels(width: 1200, height: 800) == PixelRect(left: 300, top: 0, width: 600, height: 800))
    }

    @Test(arguments: 1...5) func `A crop of a tiny image has at least one pixel`(side: Int) throws {
        let rect = try ClippingRect(x: 0.99, y: 0.99, width: 0.001, height: 0.001)
        let pixels = rect.pixels(width: side, height: side)
        #expect(pixels.width >= 1 && pixels.height >= 1)
        #expect(pixels.left + pixels.width <= side && pixels.top + pixels.height <= side)
    }

    @Test func `A rectangle that is empty after clipping at the edge is rejected`() {
        // Within the rounding tolerance, but empty after clipping.
        #expect(throws: ClippingRectError.self) { try ClippingRect(x: 1, y: 0, width: 1e-10, height: 1) }
        #expect(throws: ClippingRectError.self) { try ClippingRect(x: 0, y: 1, width: 1, height: 1e-10) }
    }
}

struct OrientationTests {
    /// The corner of the stored image that is top-left in the upright image, by EXIF's definition: "the 0th row is at
    /// the visual …, the 0th column at the visual …".
    static let storedCorners: [(Orientation, Double, Double)] = [
        (.upright, 0, 0), (.mirrored, 1, 0), (.rotated180, 1, 1), (.mirroredRotated180, 0, 1), (.transposed, 0, 0),
        (.rotated90, 0, 1), (.transversed, 1, 1), (.rotated270, 1, 0),
    ]

    @Test(arguments: storedCorners)
    func `A rectangle in the upright top-left corner maps to the right corner of the stored image`(
        orientation: Orientation, cornerX: Double, cornerY: Double
    ) throws {
        let upright = try ClippingRect(x: 0, y: 0, width: 0.2, height: 0.3)
        let stored = try orientation.storedRect(ofUpright: upright)
        let (width, height) = orientation.swapsSides ? (0.3, 0.2) : (0.2, 0.3)
        #expect(abs(stored.width - width) < 1e-9 && abs(stored.height - height) < 1e-9)
        #expect(abs(stored.x - (cornerX == 0 ? 0 : 1 - width)) < 1e-9)
        #expect(abs(stored.y - (cornerY == 0 ? 0 : 1 - height)) < 1e-9)
    }
}
