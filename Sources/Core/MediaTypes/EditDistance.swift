/// How similar two names are, for suggestions in error messages.
package enum EditDistance {
    /// A name that begins with the text, or the most similar one within `max` edits and half of its length.
    package static func nearest(to text: String, of names: [String], max: Int = 3) -> String? {
        if text.count >= 2, let begun = names.first(where: { $0.hasPrefix(text) }) { return begun }
        let changes = names.map { (name: $0, count: distance(text, $0)) }
        guard let best = changes.min(by: { $0.count < $1.count }), best.count <= min(max, best.name.count / 2) else {
            return nil
        }
        return best.name
    }

    /// The Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbors.
    package static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        var rows = [Array(0...other.count)]
        for row in one.indices {
            var next = [row + 1]
            for column in other.indices {
                let change = rows[row][column] + (one[row] == other[column] ? 0 : 1)
                var least = min(change, rows[row][column + 1] + 1, next[column] + 1)
                let isSwap = row > 0 && column > 0 && one[row] == other[column - 1] && one[row - 1] == other[column]
                if isSwap { least = min(least, rows[row - 1][column - 1] + 1) }
                next.append(least)
            }
            rows.append(next)
        }
        return rows[one.count][other.count]
    }
}
