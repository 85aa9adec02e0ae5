/// Writes a frame's pixels as GIF's LZW, choosing among the indexes that are near enough the ones that make the codes
/// fewest for what they cost in exactness.
///
/// A search walks the decoder's own tree along all nodes whose colours are near enough to the pixels that follow, and
/// takes the node with the least cost a pixel: error, and bits at a price. Whatever is taken, the tree grows here by
/// the decoder's rule.
struct LZWCompressor {
    /// Nodes looked at for one code; a tree of near-equal colours would otherwise be searched whole each time.
    private static let visitsMax = 400

    private let losses: PixelLoss
    private let exactness: GIFExactness
    private var trie: LZWTrie
    private var bits = LZWBits()
    private var wear = LZWWear()

    private let stack = NumberRow<UInt16>(repeating: 0, count: LZWTrie.codesMax)
    private var stacked = 0
    private let errors = NumberRow<Int32>(repeating: 0, count: LZWTrie.codesMax)
    /// The node written last, and its string, which ends where the next one begins.
    private var previous: Int?
    private var length = 0
    /// Indexes that were written, one a pixel, and how many.
    let written: NumberRow<UInt8>
    private var count = 0

    private struct Match {
        var code = 0
        var cost = Float.infinity
        var error: Int32 = 0
    }

    init(_ pixels: PixelChoice, palette: GIFPalette, exactness: GIFExactness) {
        losses = PixelLoss(pixels, palette: palette, exactness: exactness)
        self.exactness = exactness
        trie = LZWTrie(rootBits: palette.rootBits)
        written = NumberRow(repeating: 0, count: pixels.count)
    }

    /// The codes' bytes.
    mutating func compress() -> [UInt8] {
        bits.append(trie.clearCode, width: trie.width)
        while count < losses.count {
            write(search())
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

    private mutating func write(_ match: Match) {
        bits.append(match.code, width: trie.width)
        let start = count
        if match.code == trie.next {
            for place in start..<(start + length) { written[place] = written[place &- length] }
            written[start + length] = written[start - length]
            length += 1
        } else {
            trie.spell(match.code, to: written, at: start)
            length = Int(trie.depth[match.code])
        }
        if let previous { trie.add(written[start], to: previous) }
        previous = match.code
        count += length
    }

    // MARK: Search

    private mutating func search() -> Match {
        let start = count
        var match = Match()
        var visits = 0
        pushRoots(at: start)
        while stacked > 0 {
            stacked &-= 1
            var node = Int(stack[stacked])
            let error = errors[node]
            var position = start &+ Int(trie.depth[node])
            visits &+= 1
            // Where nothing but the best index may be written, each step is free: only the last one is considered.
            while position < losses.count, visits < Self.visitsMax, losses.isAlone(at: position) {
                let child = trie.child(of: node, losses.best(at: position))
                if child == LZWTrie.none { break }
                node = child
                position &+= 1
                visits &+= 1
            }
            consider(node, depth: position &- start, error: error, for: &match)
            guard position < losses.count, visits < Self.visitsMax, !losses.isAlone(at: position) else { continue }
            pushChildren(of: node, error: error, at: position)
        }
        considerRun(at: start, for: &match)
        return match
    }

    private mutating func pushRoots(at start: Int) {
        let best = losses.best(at: start)
        for index in losses.neighbours(of: best) where index != best { pushRoot(index, at: start) }
        if let transparent = losses.transparent, transparent != best { pushRoot(transparent, at: start) }
        pushRoot(best, at: start)
    }

    private mutating func pushRoot(_ index: UInt8, at start: Int) {
        guard let loss = losses.loss(of: index, at: start) else { return }
        push(Int(index), error: loss)
    }

    private mutating func pushChildren(of node: Int, error: Int32, at position: Int) {
        var child = trie.nodes[node].child
        while child != LZWTrie.none {
            let next = trie.nodes[child]
            if let loss = losses.loss(of: next.suffix, at: position) { push(child, error: error &+ loss) }
            child = next.sibling
        }
    }

    @inline(__always) private mutating func push(_ node: Int, error: Int32) {
        errors[node] = error
        stack[stacked] = UInt16(truncatingIfNeeded: node)
        stacked &+= 1
    }

    @inline(__always)
    private func consider(_ code: Int, depth: Int, error: Int32, for match: inout Match) {
        let cost = (Float(error) + exactness.bitPrice * Float(trie.width)) / Float(depth)
        if cost < match.cost { match = Match(code: code, cost: cost, error: error) }
    }

    /// The code that the decoder gives away on reading this one: the last string and its own first index.
    private func considerRun(at start: Int, for match: inout Match) {
        guard previous != nil, !trie.isFull, start + length < losses.count else { return }
        let before = start &- length
        var error: Int32 = 0
        for offset in 0..<length {
            guard let loss = losses.loss(of: written[before &+ offset], at: start &+ offset) else { return }
            error &+= loss
        }
        guard let loss = losses.loss(of: written[before], at: start &+ length) else { return }
        consider(trie.next, depth: length &+ 1, error: error &+ loss, for: &match)
    }
}
