import MediaTypes

/// Removes values from a payload, and the objects, arrays and JSON strings that become empty.
///
/// The top of the payload and `aps` are kept, even when empty.
struct PayloadRemovals {
    let removedPaths: Set<PayloadPath>
    private let above: Set<PayloadPath>
    private let keptContainers: Set<PayloadPath>

    init(removedPaths: Set<PayloadPath>, root: PayloadPath) {
        self.removedPaths = removedPaths
        above = removedPaths.reduce(into: []) { above, path in
            var path = path
            while let parent = path.parent, above.insert(parent).inserted { path = parent }
        }
        keptContainers = [PayloadPath(), root, root.appending(.key("aps"))]
    }

    /// The removals in reverse order, so that array indices stay valid.
    func edits(in value: PayloadValue) -> [PayloadEdit] {
        var paths: [PayloadPath] = []
        _ = isRemoved(value, at: PayloadPath(), into: &paths)
        return paths.reversed().map(PayloadEdit.remove)
    }

    /// Whether a value is removed completely; otherwise adds the removed parts to `paths`, in the payload's order.
    private func isRemoved(_ value: PayloadValue, at path: PayloadPath, into paths: inout [PayloadPath]) -> Bool {
        if removedPaths.contains(path) { return true }
        guard above.contains(path) else { return false }
        let children = Self.children(of: value, at: path)
        var within: [PayloadPath] = []
        var count = 0
        for (child, path) in children {
            if isRemoved(child, at: path, into: &within) {
                count += 1
                within.append(path)
            }
        }
        if count == children.count, count > 0, !keptContainers.contains(path) { return true }
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
