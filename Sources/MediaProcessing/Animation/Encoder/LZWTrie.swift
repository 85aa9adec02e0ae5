/// The strings that a decoder of GIF's LZW knows after the codes it has read: a tree, one node a code.
struct LZWTrie {
    /// Codes have 12 bits.
    static let codesMax = 4096
    /// No node: code 0 is a root, so nothing's child.
    static let none = 0

    /// A node's links and the last index of its string in one word, since a search reads them together.
    struct Node: BitwiseCopyable {
        private var word: UInt32 = 0

        /// The first of its children, and the next child of its own parent; `none` for none.
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
    /// The next code the decoder will give away.
    private(set) var next = 0
    /// Bits of the next code.
    private(set) var width = 0
    let nodes = NumberRow(repeating: Node(suffix: 0, sibling: none), count: codesMax)
    /// Lengths of the nodes' strings.
    let depth = NumberRow<UInt16>(repeating: 1, count: codesMax)
    private let parents = NumberRow<UInt16>(repeating: 0, count: codesMax)
    private var children = LZWChildren()
    private let rootBits: Int

    /// - Parameter rootBits: Bits of an index, 2 to 8.
    init(rootBits: Int) {
        self.rootBits = rootBits
        clearCode = 1 << rootBits
        endCode = clearCode + 1
        clear()
    }

    var isFull: Bool { next == Self.codesMax }

    /// Forgets all strings but those of one index.
    mutating func clear() {
        for index in 0..<clearCode { nodes[index] = Node(suffix: UInt8(index), sibling: Self.none) }
        children.clear()
        next = endCode + 1
        width = rootBits + 1
    }

    /// The node of a node's string and one index more; `none` for none.
    @inline(__always) func child(of parent: Int, _ index: UInt8) -> Int { children.child(of: parent, index) }

    /// Writes a node's string to a place.
    func spell(_ node: Int, to string: NumberRow<UInt8>, at start: Int) {
        var node = node
        for place in stride(from: start &+ Int(depth[node]) &- 1, through: start, by: -1) {
            string[place] = nodes[node].suffix
            node = Int(parents[node])
        }
    }

    /// Gives the next code to the string of `parent` and one index more, as the decoder does.
    mutating func add(_ index: UInt8, to parent: Int) {
        guard next < Self.codesMax else { return }
        nodes[next] = Node(suffix: index, sibling: nodes[parent].child)
        nodes[parent].child = next
        depth[next] = depth[parent] + 1
        parents[next] = UInt16(parent)
        children.add(next, to: parent, index)
        next += 1
        if next == 1 << width, width < 12 { width += 1 }
    }
}
