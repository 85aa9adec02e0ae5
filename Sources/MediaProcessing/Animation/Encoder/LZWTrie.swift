/// The strings that a decoder of GIF's LZW knows after the codes it has read: a tree, one node a code.
struct LZWTrie {
    /// Codes have 12 bits.
    static let codesMax = 4096
    /// No node: code 0 is a root, so nothing's child.
    static let none = 0

    /// A node's links and the last index of its string in one word, since a search reads them together.
    struct Node {
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
    private(set) var nodes = [Node](repeating: Node(suffix: 0, sibling: none), count: codesMax)
    /// Lengths of the nodes' strings.
    private(set) var depth = [UInt16](repeating: 1, count: codesMax)
    private var parents = [UInt16](repeating: 0, count: codesMax)
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
        next = endCode + 1
        width = rootBits + 1
    }

    /// Appends a node's string.
    func spell(_ node: Int, into string: inout [UInt8]) {
        let start = string.count
        let length = Int(depth[node])
        string.append(contentsOf: repeatElement(0, count: length))
        var node = node
        for index in stride(from: start + length - 1, through: start, by: -1) {
            string[index] = nodes[node].suffix
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
        next += 1
        if next == 1 << width, width < 12 { width += 1 }
    }
}
