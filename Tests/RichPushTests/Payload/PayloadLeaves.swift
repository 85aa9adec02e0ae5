import RichPush

/// What a payload says, scalar by scalar, with where it stands; JSON in the strings that are named is looked into.
struct PayloadLeaves {
    private(set) var values: [PayloadPath: PayloadValue] = [:]
    private let opened: Set<PayloadPath>

    init(_ value: PayloadValue, opening paths: [PayloadPath]) {
        opened = Set(
            paths.flatMap { path in
                path.steps.indices.filter { path.steps[$0] == .text }.map { PayloadPath(Array(path.steps[..<$0])) }
            })
        add(value, at: PayloadPath())
    }

    private mutating func add(_ value: PayloadValue, at path: PayloadPath) {
        switch value {
        case .object(let members) where !members.isEmpty:
            for member in members { add(member.value, at: path.appending(.key(member.key))) }
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() { add(element, at: path.appending(.index(index))) }
        case .string(let text) where opened.contains(path):
            if let held = try? PayloadValue(json: Array(text.utf8)) { add(held, at: path.appending(.text)) }
        default: values[path] = value
        }
    }
}
