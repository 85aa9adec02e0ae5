/// What goes out of a payload, and the objects, arrays and strings of JSON that it leaves empty.
///
/// The payload's top and its `aps` stay, empty or not.
struct PayloadRemovals {
    let doomed: Set<PayloadPath>
    private let above: Set<PayloadPath>
    private let lasting: Set<PayloadPath>

    init(doomed: Set<PayloadPath>, root: PayloadPath) {
        self.doomed = doomed
        above = doomed.reduce(into: []) { above, path in
            var path = path
            while let parent = path.parent, above.insert(parent).inserted { path = parent }
        }
        lasting = [PayloadPath(), root, root.appending(.key("aps"))]
    }

    /// From the end to the beginning, so that an element's index is true when its turn comes.
    func edits(in value: PayloadValue) -> [PayloadEdit] {
        var paths: [PayloadPath] = []
        _ = goes(value, at: PayloadPath(), into: &paths)
        return paths.reversed().map(PayloadEdit.remove)
    }

    /// Whether nothing of a value is left; what goes of one that stays is noted, in the payload's order.
    private func goes(_ value: PayloadValue, at path: PayloadPath, into paths: inout [PayloadPath]) -> Bool {
        if doomed.contains(path) { return true }
        guard above.contains(path) else { return false }
        let children = Self.children(of: value, at: path)
        var within: [PayloadPath] = []
        var count = 0
        for (child, path) in children {
            if goes(child, at: path, into: &within) {
                count += 1
                within.append(path)
            }
        }
        if count == children.count, count > 0, !lasting.contains(path) { return true }
        paths += within
        return false
    }

    private static func children(of value: PayloadValue, at path: PayloadPath) -> [(PayloadValue, PayloadPath)] {
        switch value {
        case .object(let members): members.map { ($0.value, path.appending(.key($0.key))) }
        case .array(let elements): elements.enumerated().map { ($0.element, path.appending(.index($0.offset))) }
        case .string(let text):
            (try? PayloadValue(json: Array(text.utf8))).map { [($0, path.appending(.text))] } ?? []
        case .number, .bool, .null: []
        }
    }
}
