/// A rectangle of pixels that grows around what it is shown.
struct PixelArea: Hashable {
    private(set) var left = Int.max
    private(set) var top = Int.max
    private(set) var right = Int.min
    private(set) var bottom = Int.min

    init() {}

    /// Around all places that are in it, a row behind the other; few others are asked about.
    @inline(__always)
    init(width: Int, height: Int, holds: (Int) -> Bool) {
        for y in 0..<height {
            guard let first = (0..<width).first(where: { holds(y &* width &+ $0) }) else { continue }
            include(x: first, y: y)
            // Between the two ends that are known nothing is new.
            let known = max(right, first)
            if let last = (known + 1..<width).last(where: { holds(y &* width &+ $0) }) { include(x: last, y: y) }
        }
    }

    var isEmpty: Bool { right < left }
    var width: Int { right - left + 1 }
    var height: Int { bottom - top + 1 }
    var columns: ClosedRange<Int> { left...right }
    var rows: ClosedRange<Int> { top...bottom }

    @inline(__always) mutating func include(x: Int, y: Int) {
        if x < left { left = x }
        if x > right { right = x }
        if y < top { top = y }
        if y > bottom { bottom = y }
    }

    mutating func include(_ other: PixelArea) {
        guard !other.isEmpty else { return }
        include(x: other.left, y: other.top)
        include(x: other.right, y: other.bottom)
    }
}
