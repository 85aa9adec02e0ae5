import SafeArithmetic

/// How deeply an SVG is nested when its references are followed, found before librsvg draws it.
///
/// librsvg 2.54 keeps an image of the whole drawing for each open mask, pattern, filter, transparent or blended group,
/// and calls itself for each open element. It limits neither. References make both deeper than the document: what is in
/// a mask may have a mask.
struct SVGDepth: Hashable {
    /// Images that are open at once at most.
    let layers: Int
    /// Elements that are open at once at most.
    let elements: Int

    /// - Parameter bytes: A document that `SVGRenderer` accepts: no entities, markup as in ASCII.
    /// - Returns: Nil when references form a circle, or CSS escapes may hide names.
    /// - Throws: `deadline.exceeded`.
    init?(_ bytes: [UInt8], deadline: ContinuousClock.Instant) throws {
        guard let sheet = SVGStyleSheet(bytes) else { return nil }
        var graph = SVGGraph(sheet: sheet)
        var reader = SVGTagReader(bytes)
        while let tag = reader.next() {
            try checkDeadline(deadline)
            graph.add(tag)
        }
        guard !graph.hasEscapes, let (layers, elements) = graph.longestPath() else { return nil }
        (self.layers, self.elements) = (layers, elements)
    }
}

/// The elements with an `id`, and what they contain and refer to.
private struct SVGGraph {
    /// Layers and elements that are open inside of an element.
    fileprivate struct Depth {
        var layers: Int32
        var elements: Int32

        static let zero = Depth(layers: 0, elements: 0)
    }

    /// The way from a node to another, and what is open there.
    private struct Edge {
        let source: Int32
        let target: Int32
        let depth: Depth
    }

    /// An open element: the node that it belongs to, and how deep it is in it.
    private struct Level {
        let node: Int32
        let depth: Depth
    }

    /// Elements that need an image of their own.
    private static let layerElements: Set = ["mask", "pattern"]
    private static let referringElements: Set = ["use", "pattern"]

    private let sheet: SVGStyleSheet
    /// The document, elements with an `id`, and names, which lead to all elements of that name.
    private var nodes = [Depth.zero]
    private var edges: [Edge] = []
    private var named: [String: Int32] = [:]
    private var levels: [Level] = []
    private(set) var hasEscapes = false

    init(sheet: SVGStyleSheet) { self.sheet = sheet }

    // Bounded throughout: numbers of elements and references in a document of at most `svgBytesMax`.

    mutating func add(_ tag: SVGTag) {
        guard !tag.isEnd else {
            _ = levels.popLast()
            return
        }
        let styles = sheet.declarations(for: tag) + tag.declarations
        hasEscapes = hasEscapes || styles.contains(where: \.hasEscapes)
        let own: Int32 = Self.layerElements.contains(tag.name) || styles.contains(where: \.isLayer) ? 1 : 0
        let outer = levels.last ?? Level(node: 0, depth: .zero)
        var level = Level(
            node: outer.node, depth: Depth(layers: outer.depth.layers + own, elements: outer.depth.elements + 1))
        if case let ids = tag.ids, !ids.isEmpty {
            level = Level(node: addNode(), depth: Depth(layers: own, elements: 1))
            edges.append(Edge(source: outer.node, target: level.node, depth: outer.depth))
            for id in ids { edges.append(Edge(source: node(named: id), target: level.node, depth: .zero)) }
        }
        nodes[Int(level.node)].raise(to: level.depth)
        let links = Self.referringElements.contains(tag.name) ? tag.links : []
        for id in styles.flatMap(\.references) + links {
            edges.append(Edge(source: level.node, target: node(named: id), depth: level.depth))
        }
        if !tag.isEmpty { levels.append(level) }
    }

    private mutating func addNode() -> Int32 {
        nodes.append(.zero)
        return Int32(clamping: nodes.count - 1)
    }

    private mutating func node(named id: String) -> Int32 {
        if let known = named[id] { return known }
        let node = addNode()
        named[id] = node
        return node
    }

    /// The most layers and the most elements on a path from the document on; nil when there is a circle.
    func longestPath() -> (layers: Int, elements: Int)? {
        var depths = nodes
        var open = [Int32](repeating: 0, count: nodes.count)
        // The edges by their target: those of a node are from `starts[node]` up to the start of the next.
        var starts = [Int](repeating: 0, count: nodes.count + 1)
        for edge in edges {
            open[Int(edge.source)] += 1
            starts[Int(edge.target) + 1] += 1
        }
        for node in nodes.indices { starts[node + 1] += starts[node] }
        var slots = starts
        var order = [Int32](repeating: 0, count: edges.count)
        for (index, edge) in edges.enumerated() {
            order[slots[Int(edge.target)]] = Int32(clamping: index)
            slots[Int(edge.target)] += 1
        }
        // What leads nowhere first, then what leads only there.
        var ready = nodes.indices.filter { open[$0] == 0 }
        var count = 0
        while let next = ready.popLast() {
            count += 1
            for index in order[starts[next]..<starts[next + 1]] {
                let edge = edges[Int(index)]
                let source = Int(edge.source)
                depths[source].raise(to: edge.depth + depths[next])
                open[source] -= 1
                if open[source] == 0 { ready.append(source) }
            }
        }
        return count == nodes.count ? (Int(depths[0].layers), Int(depths[0].elements)) : nil
    }
}

extension SVGGraph.Depth {
    // Bounded throughout: a path has each element once.
    fileprivate static func + (left: Self, right: Self) -> Self {
        Self(layers: left.layers + right.layers, elements: left.elements + right.elements)
    }

    fileprivate mutating func raise(to other: Self) {
        layers = max(layers, other.layers)
        elements = max(elements, other.elements)
    }
}
