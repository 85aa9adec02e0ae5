/// Few colours for many: boxes of colours are cut where that takes most of the variance away, then the means settle.
///
/// Source of the cutting by moments: X. Wu, "Color Quantization by Dynamic Programming and Principal Analysis", 1992.
struct ColourQuantiser {
    /// Rounds in which colours move to the middle of what falls to them; more changes little.
    private static let settlingRounds = 3

    private struct Point {
        var red: Double
        var green: Double
        var blue: Double
        var weight: Double
    }

    /// At most `count` colours for the histogram's pixels.
    static func colours(of histogram: ColourHistogram, count: Int) -> [IndexedColour] {
        if histogram.isExact, histogram.colours.count <= count { return histogram.colours }
        let points = histogram.cells.lazy.filter { $0.count > 0 }.map { cell in
            // Many pixels of one colour need no more exactness than some: a flat background would take all.
            let mean = cell.mean
            return Point(
                red: mean.red, green: mean.green, blue: mean.blue, weight: Double(cell.count))
        }
        return settled(cut(Array(points), count: count), points: Array(points))
    }

    // MARK: Cutting

    private struct Box {
        var points: ArraySlice<Point>
        /// What a cut takes away, and where it goes.
        var gain = 0.0
        var place = 0
        var axis = 0
    }

    private static func cut(_ points: [Point], count: Int) -> [Point] {
        var points = points
        var boxes = [judged(Box(points: points[...]))]
        while boxes.count < count {
            guard let index = boxes.indices.max(by: { boxes[$0].gain < boxes[$1].gain }), boxes[index].gain > 0 else {
                break
            }
            let box = boxes[index]
            let range = box.points.indices
            let axis = box.axis
            points[range].sort { component($0, axis) < component($1, axis) }
            boxes[index] = judged(Box(points: points[range.lowerBound..<box.place]))
            boxes.append(judged(Box(points: points[box.place..<range.upperBound])))
        }
        return boxes.map { mean($0.points) }
    }

    private static func component(_ point: Point, _ axis: Int) -> Double {
        switch axis {
        case 0: point.red
        case 1: point.green
        default: point.blue
        }
    }

    /// Weights of the components in a distance, as `IndexedColour.distance` has them.
    private static let axisWeights = [2.0, 4.0, 1.0]

    private static func judged(_ box: Box) -> Box {
        var box = box
        guard box.points.count > 1 else { return box }
        for axis in 0..<3 {
            let sorted = box.points.sorted { component($0, axis) < component($1, axis) }
            let totals = sorted.reduce(into: (0.0, 0.0, 0.0, 0.0)) { sums, point in
                sums.0 += point.weight
                sums.1 += point.weight * point.red
                sums.2 += point.weight * point.green
                sums.3 += point.weight * point.blue
            }
            var low = (0.0, 0.0, 0.0, 0.0)
            let whole = energy(totals)
            for index in sorted.indices.dropLast() {
                let point = sorted[index]
                low.0 += point.weight
                low.1 += point.weight * point.red
                low.2 += point.weight * point.green
                low.3 += point.weight * point.blue
                let high = (totals.0 - low.0, totals.1 - low.1, totals.2 - low.2, totals.3 - low.3)
                let gain = energy(low) + energy(high) - whole
                if gain > box.gain {
                    (box.gain, box.place, box.axis) = (gain, box.points.startIndex + index + 1, axis)
                }
            }
        }
        return box
    }

    /// The weighted square of the sums over the weight: variance is what two boxes have more of it than one.
    private static func energy(_ sums: (Double, Double, Double, Double)) -> Double {
        let squares = 2 * sums.1 * sums.1 + 4 * sums.2 * sums.2 + sums.3 * sums.3
        return squares / sums.0
    }

    private static func mean(_ points: some Sequence<Point>) -> Point {
        var sum = Point(red: 0, green: 0, blue: 0, weight: 0)
        for point in points {
            sum.red += point.red * point.weight
            sum.green += point.green * point.weight
            sum.blue += point.blue * point.weight
            sum.weight += point.weight
        }
        let weight = max(sum.weight, 1e-9)
        return Point(red: sum.red / weight, green: sum.green / weight, blue: sum.blue / weight, weight: weight)
    }

    // MARK: Settling

    private static func settled(_ start: [Point], points: [Point]) -> [IndexedColour] {
        var means = start
        for _ in 0..<settlingRounds {
            var groups = [(Double, Double, Double, Double)](repeating: (0, 0, 0, 0), count: means.count)
            for point in points {
                let index = nearest(point, means)
                groups[index].0 += point.weight
                groups[index].1 += point.weight * point.red
                groups[index].2 += point.weight * point.green
                groups[index].3 += point.weight * point.blue
            }
            for index in means.indices where groups[index].0 > 0 {
                let group = groups[index]
                means[index] = Point(
                    red: group.1 / group.0, green: group.2 / group.0, blue: group.3 / group.0, weight: group.0)
            }
        }
        let colours = means.map { mean in
            IndexedColour(
                red: Int(mean.red.rounded()), green: Int(mean.green.rounded()), blue: Int(mean.blue.rounded()))
        }
        return Array(Set(colours)).sorted()
    }

    private static func nearest(_ point: Point, _ means: [Point]) -> Int {
        var (best, least) = (0, Double.infinity)
        for index in means.indices {
            let mean = means[index]
            let (red, green, blue) = (mean.red - point.red, mean.green - point.green, mean.blue - point.blue)
            let distance = 2 * red * red + 4 * green * green + blue * blue
            if distance < least { (best, least) = (index, distance) }
        }
        return best
    }
}
