/// The strings that a decoder of GIF's LZW knows after the codes it has read: a tree, one node a code.
struct LZWTrie {
    /// Codes have 12 bits.
    static let codesMax = 4096
    /// No node: code 0 is a root, so nothing's child.
    static let none: UInt16 = 0

    let clearCode: Int
    let endCode: Int
    /// The next code the decoder will give away.
    private(set) var next = 0
    /// Bits of the next code.
    private(set) var width = 0

    /// First of a node's children, and the next one of the same parent.
    private(set) var child = [UInt16](repeating: 0, count: codesMax)
    private(set) var sibling = [UInt16](repeating: 0, count: codesMax)
    /// The last index of a node's string, and the string's length.
    private(set) var suffix = [UInt8](repeating: 0, count: codesMax)
    private(set) var depth = [UInt16](repeating: 1, count: codesMax)
    private var parents = [UInt16](repeating: 0, count: codesMax)
    private let rootBits: Int

    /// - Parameter rootBits: Bits of an index, 2 to 8.
    init(rootBits: Int) {
        self.rootBits = rootBits
        clearCode = 1 << rootBits
        endCode = clearCode + 1
        for index in 0..<clearCode { suffix[index] = UInt8(index) }
        clear()
    }

    var isFull: Bool { next == Self.codesMax }

    /// Forgets all strings but those of one index.
    mutating func clear() {
        for index in 0..<Self.codesMax { child[index] = Self.none }
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
            string[index] = suffix[node]
            node = Int(parents[node])
        }
    }

    /// Gives the next code to the string of `parent` and one index more, as the decoder does.
    mutating func add(_ index: UInt8, to parent: Int) {
        guard next < Self.codesMax else { return }
        child[next] = Self.none
        suffix[next] = index
        depth[next] = depth[parent] + 1
        parents[next] = UInt16(parent)
        sibling[next] = child[parent]
        child[parent] = UInt16(next)
        next += 1
        if next == 1 << width, width < 12 { width += 1 }
    }
}
