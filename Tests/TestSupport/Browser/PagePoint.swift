/// A place in a page's window, in CSS pixels from its top left corner.
public struct PagePoint: Sendable, Hashable {
    public let x: Double
    public let y: Double

    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// The same place moved.
    public func moved(x: Double = 0, y: Double = 0) -> PagePoint { PagePoint(x: self.x + x, y: self.y + y) }

    /// A place on the straight way to another one: 0 is here, 1 is there.
    func going(_ part: Double, to end: PagePoint) -> PagePoint {
        moved(x: (end.x - x) * part, y: (end.y - y) * part)
    }
}
