/// Writes a frame's pixels as GIF's LZW, choosing among the indexes that are near enough the ones that make the codes
/// fewest for what they cost in exactness.
///
/// A search walks the decoder's own tree along all nodes whose colours are near enough to the pixels that follow, and
/// takes the node with the least cost a pixel: error, and bits at a price. Whatever is taken, the tree grows here by
/// the decoder's rule.
struct LZWCompressor {
    /// Nodes looked at for one code; a tree of near-equal colours would otherwise be searched whole each time.
    private static let visitsMax = 400

    private let pixels: PixelChoice
    private let palette: GIFPalette
    private let exactness: GIFExactness
    private let neighbours: [[UInt8]]
    /// Whether two indexes may stand for each other somewhere.
    private let near: [Bool]
    private var trie: LZWTrie
    private var bits = LZWBits()
    private var wear = LZWWear()

    private var stack: [UInt16] = []
    private var errors = [Int32](repeating: 0, count: LZWTrie.codesMax)
    /// The node written last, and its string.
    private var previous: Int?
    private var string: [UInt8] = []
    /// Indexes that were written, one a pixel.
    private(set) var written: [UInt8] = []

    private struct Match {
        var code = 0
        var cost = Float.infinity
        var error: Int32 = 0
    }

    init(_ pixels: PixelChoice, palette: GIFPalette, exactness: GIFExactness) {
        self.pixels = pixels
        self.palette = palette
        self.exactness = exactness
        trie = LZWTrie(rootBits: palette.rootBits)
        near = palette.near(within: exactness.tolerance)
        neighbours = exactness.isExact ? [] : palette.neighbours(near)
        written.reserveCapacity(pixels.count)
    }

    /// The codes' bytes.
    mutating func compress() -> [UInt8] {
        bits.append(trie.clearCode, width: trie.width)
        while written.count < pixels.count {
            let length = write(search())
            if trie.isFull, wear.isWorn(after: length) { clear() }
        }
        bits.append(trie.endCode, width: trie.width)
        return bits.finished()
    }

    private mutating func clear() {
        bits.append(trie.clearCode, width: trie.width)
        trie.clear()
        previous = nil
        wear = LZWWear()
    }

    /// Writes a match and gives its length.
    private mutating func write(_ match: Match) -> Int {
        bits.append(match.code, width: trie.width)
        if match.code == trie.next {
            string.append(string[0])
        } else {
            string.removeAll(keepingCapacity: true)
            trie.spell(match.code, into: &string)
        }
        written.append(contentsOf: string)
        if let previous { trie.add(string[0], to: previous) }
        previous = match.code
        return string.count
    }

    // MARK: Search

    private mutating func search() -> Match {
        let start = written.count
        var match = Match()
        var visits = 0
        pushRoots(at: start)
        while let node = stack.popLast() {
            visits += 1
            let depth = Int(trie.depth[Int(node)])
            let error = errors[Int(node)]
            consider(Int(node), depth: depth, error: error, for: &match)
            let position = start + depth
            guard position < pixels.count, visits < Self.visitsMax else { continue }
            var child = trie.nodes[Int(node)].child
            while child != LZWTrie.none {
                let next = trie.nodes[child]
                if let loss = loss(of: next.suffix, at: position) {
                    errors[child] = error &+ loss
                    stack.append(UInt16(truncatingIfNeeded: child))
                }
                child = next.sibling
            }
        }
        considerRun(at: start, for: &match)
        return match
    }

    private mutating func pushRoots(at start: Int) {
        let best = pixels.best[start]
        if !exactness.isExact {
            for index in neighbours[Int(best)] where index != best { pushRoot(index, at: start) }
        }
        if let transparent = palette.transparent, transparent != best { pushRoot(transparent, at: start) }
        pushRoot(best, at: start)
    }

    private mutating func pushRoot(_ index: UInt8, at start: Int) {
        guard let loss = loss(of: index, at: start) else { return }
        errors[Int(index)] = loss
        stack.append(UInt16(index))
    }

    /// What writing an index there loses over the best one; nil where it is too far.
    @inline(__always) private func loss(of index: UInt8, at position: Int) -> Int32? {
        let best = pixels.best[position]
        if index == best { return 0 }
        let loss: Int32
        if index == palette.transparent {
            loss = pixels.keepingLoss[position]
            if loss == PixelChoice.never { return nil }
        } else {
            // Most are too far from the best one already.
            let wanted = pixels.wanted[position]
            guard wanted != 0, near[Int(best) << 8 | Int(index)] else { return nil }
            loss = Int32(truncatingIfNeeded: palette.colours[Int(index)].distance(to: wanted))
        }
        let extra = ((loss &- pixels.bestLoss[position]) &* Int32(pixels.weight[position])) >> 4
        return extra <= Int32(exactness.tolerance) ? extra : nil
    }

    private func consider(_ code: Int, depth: Int, error: Int32, for match: inout Match) {
        let cost = (Float(error) + exactness.bitPrice * Float(trie.width)) / Float(depth)
        if cost < match.cost { match = Match(code: code, cost: cost, error: error) }
    }

    /// The code that the decoder gives away on reading this one: the last string and its own first index.
    private func considerRun(at start: Int, for match: inout Match) {
        guard previous != nil, !trie.isFull, start + string.count < pixels.count else { return }
        var error: Int32 = 0
        for (offset, index) in string.enumerated() {
            guard let loss = loss(of: index, at: start + offset) else { return }
            error &+= loss
        }
        guard let loss = loss(of: string[0], at: start + string.count) else { return }
        consider(trie.next, depth: string.count + 1, error: error &+ loss, for: &match)
    }
}
