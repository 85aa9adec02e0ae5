import MediaEngine
import RichPush
import SafeArithmetic

/// The largest window of given proportions in a picture: it fills one side, and can slide along the other.
// Bounded throughout: sides of a picture, and a window that is no larger than it.
struct CropWindow: Sendable, Hashable {
    /// Pixels of the picture.
    let width: Int
    let height: Int
    /// Pixels of the window.
    let windowWidth: Int
    let windowHeight: Int

    init(width: Int, height: Int, ratio: AspectRatio) {
        self.width = width
        self.height = height
        let (across, down) = (Double(max(1, ratio.width)), Double(max(1, ratio.height)))
        windowWidth = min(width, max(1, Int(clamping: (Double(height) * across / down).rounded())))
        windowHeight = min(height, max(1, Int(clamping: (Double(width) * down / across).rounded())))
    }

    /// Pixels it can slide; 0 when it covers the picture.
    var slack: Int { max(width - windowWidth, height - windowHeight) }

    private var slidesAcross: Bool { width - windowWidth > height - windowHeight }

    /// The window slid by so many pixels, as unit values.
    func rect(at offset: Int) throws -> ClippingRect {
        let left = slidesAcross ? min(offset, width - windowWidth) : (width - windowWidth) / 2
        let top = slidesAcross ? (height - windowHeight) / 2 : min(offset, height - windowHeight)
        return try ClippingRect(
            x: Double(left) / Double(width), y: Double(top) / Double(height),
            width: Double(windowWidth) / Double(width), height: Double(windowHeight) / Double(height))
    }

    /// How far to slide so that most of what is worth seeing is inside, and inside with room around it.
    func best(in map: Saliency) -> Int {
        let line = slidesAcross ? map.columns : map.rows
        let total = slidesAcross ? width : height
        let length = slidesAcross ? windowWidth : windowHeight
        let share = Double(length) / Double(total)
        let span = max(1, Int(clamping: (share * Double(line.count)).rounded()))
        guard span < line.count else { return 0 }
        let scores = (0...(line.count - span)).map { Self.score(line, from: $0, count: span) }
        let most = scores.max() ?? 0
        // Where several are as good, the one nearest to the middle.
        let middle = Double(scores.count - 1) / 2
        let best =
            scores.indices.filter { scores[$0] >= most - 1e-9 }
            .min { abs(Double($0) - middle) < abs(Double($1) - middle) } ?? 0
        return Int(clamping: (Double(best) / Double(max(1, scores.count - 1)) * Double(slack)).rounded())
    }

    /// What lies inside, less for what lies near an end: nobody likes to be cut.
    private static func score(_ line: [Double], from start: Int, count: Int) -> Double {
        var sum = 0.0
        for index in 0..<count {
            let room = Double(min(index, count - 1 - index)) + 0.5
            sum += line[start + index] * (0.4 + 0.6 * min(1, room / (Double(count) * edgeShare)))
        }
        return sum
    }

    /// The part of a window at either end where things look cut.
    private static let edgeShare = 0.2
}
