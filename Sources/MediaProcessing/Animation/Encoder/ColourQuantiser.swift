/// Few colours for many: boxes of colours are cut where that takes most of the variance away, then the colours move to
/// the middle of what falls to them.
struct ColourQuantiser {
    /// Rounds of moving; more change little.
    private static let settlingRounds = 2

    /// At most `count` colours for the histogram's pixels.
    static func colours(of histogram: ColourHistogram, count: Int) -> [IndexedColour] {
        if histogram.isExact, histogram.colours.count <= count { return histogram.colours }
        let cells = histogram.cells.filter { $0.count > 0 }
        var colours = cut(ColourMoments(histogram.cells), count: count)
        for _ in 0..<settlingRounds { colours = settled(colours, cells) }
        return Array(Set(colours)).sorted()
    }

    // MARK: Cutting

    private struct Piece {
        var box: ColourMoments.Box
        var sums: ColourMoments.Sums
        /// What the best cut takes away, and where it is.
        var gain = 0.0
        var axis = 0
        var place = 0
    }

    private static func cut(_ moments: ColourMoments, count: Int) -> [IndexedColour] {
        var pieces = [judged(ColourMoments.Box(), moments)]
        while pieces.count < count {
            guard let index = pieces.indices.max(by: { pieces[$0].gain < pieces[$1].gain }), pieces[index].gain > 0
            else { break }
            let piece = pieces[index]
            var (lower, upper) = (piece.box, piece.box)
            lower.high[piece.axis] = piece.place
            upper.low[piece.axis] = piece.place
            pieces[index] = judged(lower, moments)
            pieces.append(judged(upper, moments))
        }
        return pieces.filter { $0.sums.x > 0 }.map { mean($0.sums) }
    }

    private static func judged(_ box: ColourMoments.Box, _ moments: ColourMoments) -> Piece {
        var piece = Piece(box: box, sums: moments.sums(of: box))
        let whole = ColourMoments.energy(piece.sums)
        for axis in 0..<3 {
            var lower = box
            for place in box.low[axis] + 1..<max(box.low[axis] + 1, box.high[axis]) {
                lower.high[axis] = place
                let sums = moments.sums(of: lower)
                let rest = piece.sums - sums
                guard sums.x > 0, rest.x > 0 else { continue }
                let gain = ColourMoments.energy(sums) + ColourMoments.energy(rest) - whole
                if gain > piece.gain { (piece.gain, piece.axis, piece.place) = (gain, axis, place) }
            }
        }
        return piece
    }

    private static func mean(_ sums: ColourMoments.Sums) -> IndexedColour {
        IndexedColour(
            red: Int((sums.y / sums.x).rounded()), green: Int((sums.z / sums.x).rounded()),
            blue: Int((sums.w / sums.x).rounded()))
    }

    // MARK: Settling

    private static func settled(_ colours: [IndexedColour], _ cells: [ColourHistogram.Cell]) -> [IndexedColour] {
        var finder = ColourFinder(GIFPalette(colours, hasTransparency: false))
        var sums = [ColourMoments.Sums](repeating: .zero, count: colours.count)
        for cell in cells { sums[Int(finder.nearestIndex(to: mean(cell.sums)))] += cell.sums }
        return colours.indices.map { sums[$0].x > 0 ? mean(sums[$0]) : colours[$0] }
    }
}
