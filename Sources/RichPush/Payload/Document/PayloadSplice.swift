/// Bytes that take the place of others in a JSON text.
struct PayloadSplice: Sendable, Hashable {
    let range: Range<Int>
    let bytes: [UInt8]
}

extension PayloadText {
    /// What an edit changes; throws `internal` where its path leads nowhere.
    func splice(for edit: PayloadEdit) throws(AttachPrepError) -> PayloadSplice {
        if let text = edit.path.steps.firstIndex(of: .text) {
            let (token, held) = try held(at: edit.path.steps[..<text])
            return token.lifted(try held.splice(for: edit.at(PayloadPath(Array(edit.path.steps[(text + 1)...])))))
        }
        return switch edit {
        case .replace(let path, let value): try replacement(at: path, with: value)
        case .rename(let path, let key): try renaming(path, to: key)
        case .remove(let path): try removal(of: path)
        case .set(let key, let value, let path): try addition(of: key, value, in: path)
        }
    }

    private func replacement(at path: PayloadPath, with value: PayloadValue) throws(AttachPrepError) -> PayloadSplice {
        let node = try node(at: path.steps[...])
        if case .string(let text) = value, case .string = node.content {
            let habit = PayloadStringToken(bytes, node.range).escapesSlashes
            return PayloadSplice(range: node.range, bytes: PayloadSpelling.string(text, escapingSlashes: habit))
        }
        let layout = try path.parent.map { (parent) throws(AttachPrepError) in
            try PayloadLayout(beside: node, in: self.node(at: parent.steps[...]), of: bytes)
        }
        return PayloadSplice(range: node.range, bytes: (layout ?? .compact).spelled(value))
    }

    private func renaming(_ path: PayloadPath, to key: String) throws(AttachPrepError) -> PayloadSplice {
        let (container, place) = try child(at: path)
        guard case .object(let members) = container.content else { throw Self.missing(path) }
        return PayloadSplice(range: members[place].keyRange, bytes: PayloadSpelling.string(key))
    }

    /// With its comma: the one before it, but the first one's, which stands behind it.
    private func removal(of path: PayloadPath) throws(AttachPrepError) -> PayloadSplice {
        let (container, place) = try child(at: path)
        let children = container.children
        if children.count == 1 {
            return PayloadSplice(range: container.range.lowerBound + 1..<container.range.upperBound - 1, bytes: [])
        }
        return place == 0
            ? PayloadSplice(range: children[0].lowerBound..<children[1].lowerBound, bytes: [])
            : PayloadSplice(range: children[place - 1].upperBound..<children[place].upperBound, bytes: [])
    }

    private func addition(
        of key: String, _ value: PayloadValue, in path: PayloadPath
    ) throws(AttachPrepError) -> PayloadSplice {
        let node = try node(at: path.steps[...])
        guard case .object(let members) = node.content else { throw Self.missing(path) }
        if members.contains(where: { $0.key == key }) {
            return try replacement(at: path.appending(.key(key)), with: value)
        }
        let (separator, layout) = PayloadLayout.ofNewMember(in: node, of: bytes)
        let member = PayloadSpelling.string(key) + layout.colon + layout.spelled(value)
        guard let last = node.children.last else {
            return PayloadSplice(range: node.range.lowerBound + 1..<node.range.upperBound - 1, bytes: member)
        }
        return PayloadSplice(range: last.upperBound..<last.upperBound, bytes: separator + member)
    }

    private func child(at path: PayloadPath) throws(AttachPrepError) -> (container: PayloadNode, place: Int) {
        guard let step = path.steps.last else { throw Self.missing(path) }
        let container = try node(at: path.steps.dropLast())
        guard let place = container.place(of: step) else { throw Self.missing(path) }
        return (container, place)
    }
}

extension PayloadEdit {
    /// Where it is made: the value's place, or that of the object which gets a member.
    var path: PayloadPath {
        switch self {
        case .replace(let path, _), .rename(let path, _), .remove(let path), .set(_, _, let path): path
        }
    }

    /// The same edit elsewhere.
    func at(_ path: PayloadPath) -> PayloadEdit {
        switch self {
        case .replace(_, let value): .replace(path, value)
        case .rename(_, let key): .rename(path, to: key)
        case .remove: .remove(path)
        case .set(let key, let value, _): .set(key: key, value, in: path)
        }
    }
}
