import Foundation

/// A colour in sRGB, 0 to 255 a component, with the distance the eye sees.
public struct TestColour: Sendable, Hashable {
    public let red: Double
    public let green: Double
    public let blue: Double

    public init(red: Double, green: Double, blue: Double) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// As written in web pages: `0xd62728`.
    public init(hex: Int) {
        self.init(red: Double(hex >> 16 & 0xff), green: Double(hex >> 8 & 0xff), blue: Double(hex & 0xff))
    }

    /// CIE 1976 delta E: 2.3 is just noticeable, 10 is another shade, 50 another colour.
    public func distance(to other: TestColour) -> Double {
        let (a, b) = (lab, other.lab)
        let (lightness, greenRed, blueYellow) = (a.0 - b.0, a.1 - b.1, a.2 - b.2)
        return (lightness * lightness + greenRed * greenRed + blueYellow * blueYellow).squareRoot()
    }

    /// L*, a*, b* under D65.
    private var lab: (Double, Double, Double) {
        let (r, g, b) = (Self.linear(red), Self.linear(green), Self.linear(blue))
        let x = Self.compressed((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047)
        let y = Self.compressed(0.2126 * r + 0.7152 * g + 0.0722 * b)
        let z = Self.compressed((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
        return (116 * y - 16, 500 * (x - y), 200 * (y - z))
    }

    private static func linear(_ component: Double) -> Double {
        let value = component / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func compressed(_ value: Double) -> Double {
        value > 0.008856 ? cbrt(value) : 7.787 * value + 16.0 / 116
    }
}
