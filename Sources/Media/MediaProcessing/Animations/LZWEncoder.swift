/// Encodes a frame's pixels as GIF LZW. Among the indexes within the tolerance, it chooses those that give the fewest
/// codes for the error they cost.
///
/// A search descends the decoder's string tree along all nodes whose colors are within the tolerance of the following
/// pixels, and takes the node with the lowest cost per pixel: its error plus the price of its bits. The tree grows by
/// the decoder's rule.
struct LZWEncoder {
    /// Maximum nodes visited for one code; without it a tree of similar colors would be searched completely each time.
    private static let visitsMax = 400

    private let losses: PixelLoss
    private let exactness: GIFExactness
    private var trie: LZWTrie
    private var bits = LZWBitWriter()
    private var dictionaryReset = LZWDictionaryReset()

    private let stack = UnsafeArray<UInt16>(repeating: 0, count: LZWTrie.codesMax)
    private var stacked = 0
    private let errors = UnsafeArray<Int32>(repeating: 0, count: LZWTrie.codesMax)
    /// The last node written, and the length of its string, which ends where the next one begins.
    private var previous: Int?
    private var length = 0
    /// The indexes that were written, one a pixel.
    let written: UnsafeArray<UInt8>
    private var count = 0

    private struct Match {
        var code = 0
        var cost = Float.infinity
        var error: Int32 = 0
    }

    init(_ pixels: PixelCandidates, palette: GIFPalette, exactness: GIFExactness) {
        losses = PixelLoss(pixels, palette: palette, exactness: exactness)
        self.exactness = exactness
        trie = LZWTrie(rootBits: palette.rootBits)
        written = UnsafeArray(repeating: 0, count: pixels.count)
    }

    /// Returns the encoded bytes.
    mutating func compress() -> [UInt8] {
        bits.append(trie.clearCode, width: trie.width)
        while count < losses.count {
            write(search())
            if trie.isFull, dictionaryReset.shouldReset(after: length) { clear() }
        }
        bits.append(trie.endCode, width: trie.width)
        return bits.finished()
    }

    private mutating func clear() {
        bits.append(trie.clearCode, width: trie.width)
        trie.clear()
        previous = nil
        dictionaryReset = LZWDictionaryReset()
    }

    private mutating func write(_ match: Match) {
        bits.append(match.code, width: trie.width)
        let start = count
        if match.code == trie.next {
            for position in start..<(start + length) { written[position] = written[position &- length] }
            written[start + length] = written[start - length]
            length += 1
        } else {
            trie.writeString(match.code, to: written, at: start)
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
            // Where only the best index is possible, steps add no error: only the last one is considered.
            while position < losses.count, visits < Self.visitsMax, losses.hasOneCandidate(at: position) {
                let child = trie.child(of: node, losses.best(at: position))
                if child == LZWTrie.none { break }
                node = child
                position &+= 1
                visits &+= 1
            }
            consider(node, depth: position &- start, error: error, for: &match)
            guard position < losses.count, visits < Self.visitsMax, !losses.hasOneCandidate(at: position) else {
                continue
            }
            pushChildren(of: node, error: error, at: position)
        }
        considerRun(at: start, for: &match)
        return match
    }

    private mutating func pushRoots(at start: Int) {
        let best = losses.best(at: start)
        for index in losses.neighbors(of: best) where index != best { pushRoot(index, at: start) }
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

    /// Considers the code that the decoder adds while reading it: the previous string and its own first index.
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

/// Decides when to reset the LZW dictionary: its compression ratio has fallen below 85 % of its best.
struct LZWDictionaryReset {
    /// Codes per measurement, and the share of the best ratio below which the dictionary is reset.
    private static let windowCodes = 256
    private static let resetShare = 0.85

    private var codes = 0
    private var pixels = 0
    private var bestRate = 0.0

    /// Counts a code of `length` pixels.
    mutating func shouldReset(after length: Int) -> Bool {
        codes += 1
        pixels += length
        guard codes == Self.windowCodes else { return false }
        let rate = Double(pixels) / Double(codes)
        (codes, pixels) = (0, 0)
        bestRate = max(bestRate, rate)
        return rate < bestRate * Self.resetShare
    }
}

/// The loss of each palette index for each pixel, and which are allowed.
struct PixelLoss {
    private let pixels: PixelCandidates
    private let tolerance: Int32
    private let colors = UnsafeArray<PackedColor>(repeating: 0, count: 256)
    /// For every index, 256 flags: whether one may replace the other for some pixel.
    private let near: UnsafeArray<Bool>
    private let neighbors: [[UInt8]]
    /// Whether only its best index may be written for a pixel.
    private let hasSingleChoice: UnsafeArray<Bool>
    /// The transparent index; 256 without one.
    private let transparentIndex: Int
    let transparent: UInt8?

    var count: Int { pixels.count }

    init(_ pixels: PixelCandidates, palette: GIFPalette, exactness: GIFExactness) {
        self.pixels = pixels
        tolerance = Int32(exactness.tolerance)
        transparent = palette.transparent
        transparentIndex = transparent.map(Int.init) ?? 256
        for (index, color) in palette.colors.enumerated() { colors[index] = color }
        near = palette.near(within: exactness.tolerance)
        neighbors = exactness.isExact ? palette.colors.map { _ in [] } : palette.neighbors(near)
        hasSingleChoice = UnsafeArray(repeating: false, count: pixels.count)
        let hasNoNeighbors = neighbors.indices.map { $0 != transparentIndex && neighbors[$0].isEmpty }
        for position in 0..<pixels.count where hasNoNeighbors[Int(pixels.best[position])] {
            hasSingleChoice[position] = transparent == nil || !mayBeKept(at: position)
        }
    }

    @inline(__always) func best(at position: Int) -> UInt8 { pixels.best[position] }
    @inline(__always) func hasOneCandidate(at position: Int) -> Bool { hasSingleChoice[position] }

    /// The nearest indexes of one; empty for exact encoding and for the transparent index.
    func neighbors(of index: UInt8) -> [UInt8] { neighbors[Int(index)] }

    /// The loss beyond that of the best index; nil where it exceeds the tolerance.
    @inline(__always) func loss(of index: UInt8, at position: Int) -> Int32? {
        let best = pixels.best[position]
        if index == best { return 0 }
        let loss: Int32
        if Int(index) == transparentIndex {
            loss = pixels.keepingLoss[position]
            if loss == PixelCandidates.never { return nil }
        } else {
            // Rejects most candidates by their distance from the best index alone.
            let wanted = pixels.wanted[position]
            guard wanted != 0, near[Int(best) << 8 | Int(index)] else { return nil }
            loss = colors[Int(index)].distance(to: wanted)
        }
        let extra = loss &- pixels.bestLoss[position]
        return extra <= tolerance ? extra : nil
    }

    private func mayBeKept(at position: Int) -> Bool {
        let loss = pixels.keepingLoss[position]
        return loss != PixelCandidates.never && loss &- pixels.bestLoss[position] <= tolerance
    }
}

/// The string table of a GIF LZW decoder after the codes read so far: a tree with one node per code.
struct LZWTrie {
    /// Codes have 12 bits.
    static let codesMax = 4096
    /// No node: code 0 is a root, so it is never a child.
    static let none = 0

    /// A node's links and the last index of its string in one word, since a search reads them together.
    struct Node: BitwiseCopyable {
        private var word: UInt32 = 0

        /// The first of its children, and the next child of its own parent; `none` if there is none.
        @inline(__always) var child: Int {
            get { Int(word & 0xFFF) }
            set { word = word & ~0xFFF | UInt32(newValue) }
        }
        @inline(__always) var sibling: Int { Int(word >> 12 & 0xFFF) }
        @inline(__always) var suffix: UInt8 { UInt8(truncatingIfNeeded: word >> 24) }

        init(suffix: UInt8, sibling: Int) { word = UInt32(suffix) << 24 | UInt32(sibling) << 12 }
    }

    let clearCode: Int
    let endCode: Int
    /// The next code that the decoder will add.
    private(set) var next = 0
    /// Bits of the next code.
    private(set) var width = 0
    let nodes = UnsafeArray(repeating: Node(suffix: 0, sibling: none), count: codesMax)
    /// Lengths of the nodes' strings.
    let depth = UnsafeArray<UInt16>(repeating: 1, count: codesMax)
    private let parents = UnsafeArray<UInt16>(repeating: 0, count: codesMax)
    private var children = LZWChildTable()
    private let rootBits: Int

    /// - Parameter rootBits: Bits of an index, 2 to 8.
    init(rootBits: Int) {
        self.rootBits = rootBits
        clearCode = 1 << rootBits
        endCode = clearCode + 1
        clear()
    }

    var isFull: Bool { next == Self.codesMax }

    /// Removes all strings but those of one index.
    mutating func clear() {
        for index in 0..<clearCode { nodes[index] = Node(suffix: UInt8(index), sibling: Self.none) }
        children.clear()
        next = endCode + 1
        width = rootBits + 1
    }

    /// The node of a node's string followed by `index`; `none` if it does not exist.
    @inline(__always) func child(of parent: Int, _ index: UInt8) -> Int { children.child(of: parent, index) }

    /// Writes a node's string to a position.
    func writeString(_ node: Int, to string: UnsafeArray<UInt8>, at start: Int) {
        var node = node
        for position in stride(from: start &+ Int(depth[node]) &- 1, through: start, by: -1) {
            string[position] = nodes[node].suffix
            node = Int(parents[node])
        }
    }

    /// Assigns the next code to the string of `parent` followed by `index`, as the decoder does.
    mutating func add(_ index: UInt8, to parent: Int) {
        guard next < Self.codesMax else { return }
        nodes[next] = Node(suffix: index, sibling: nodes[parent].child)
        nodes[parent].child = next
        depth[next] = depth[parent] + 1
        parents[next] = UInt16(parent)
        children.add(next, to: parent, index: index)
        next += 1
        if next == 1 << width, width < 12 { width += 1 }
    }
}

/// The children of all nodes by parent and last index: an open-addressing hash table with linear probing and four slots
/// per node.
struct LZWChildTable {
    private static let slotBits = 14

    /// Parent, index and child, of 12, 8 and 12 bits; a child is never 0.
    private let table = UnsafeArray<UInt32>(repeating: 0, count: 1 << slotBits)

    func clear() { table.fill(with: 0) }

    /// `LZWTrie.none` if there is none.
    @inline(__always) func child(of parent: Int, _ index: UInt8) -> Int {
        let wanted = Self.pair(parent, index: index)
        var slot = Self.slot(wanted)
        while true {
            let entry = table[slot]
            if entry == 0 { return LZWTrie.none }
            if entry >> 12 == wanted { return Int(entry & 0xFFF) }
            slot = (slot &+ 1) & (1 << Self.slotBits &- 1)
        }
    }

    func add(_ child: Int, to parent: Int, index: UInt8) {
        let pair = Self.pair(parent, index: index)
        var slot = Self.slot(pair)
        while table[slot] != 0 { slot = (slot &+ 1) & (1 << Self.slotBits &- 1) }
        table[slot] = pair << 12 | UInt32(child)
    }

    @inline(__always) private static func pair(_ parent: Int, index: UInt8) -> UInt32 {
        UInt32(truncatingIfNeeded: parent) << 8 | UInt32(index)
    }

    /// Fibonacci hashing: Knuth, "The Art of Computer Programming", 6.4.
    @inline(__always) private static func slot(_ pair: UInt32) -> Int {
        Int((pair &* 0x9E37_79B1) >> UInt32(32 - slotBits))
    }
}

/// Writes codes of varying width, lowest bit first.
struct LZWBitWriter {
    private var bytes: [UInt8] = []
    private var pending: UInt32 = 0
    private var pendingBits = 0

    mutating func append(_ code: Int, width: Int) {
        pending |= UInt32(truncatingIfNeeded: code) &<< UInt32(truncatingIfNeeded: pendingBits)
        pendingBits &+= width
        while pendingBits >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending &>>= 8
            pendingBits &-= 8
        }
    }

    /// The bytes, with the last one padded.
    mutating func finished() -> [UInt8] {
        if pendingBits > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
        (pending, pendingBits) = (0, 0)
        return bytes
    }
}
