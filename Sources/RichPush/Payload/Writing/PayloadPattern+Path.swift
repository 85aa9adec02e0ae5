extension PayloadPattern {
    /// The path of this form that takes the same elements as another one of its own form; nil when it takes others.
    func path(like path: PayloadPath, of form: PayloadPattern) -> PayloadPath? {
        // What stands before the form itself is the same for both.
        guard path.steps.count >= form.steps.count else { return nil }
        let before = path.steps.dropLast(form.steps.count)
        var elements = zip(form.steps, path.steps.suffix(form.steps.count)).filter { $0.0.isChoice }.map(\.1)[...]
        var result = PayloadPath(Array(before))
        for step in steps {
            switch step {
            case .key(let key): result = result.appending(.key(key))
            case .text: result = result.appending(.text)
            case .each, .eachMember:
                guard let element = elements.popFirst() else { return nil }
                result = result.appending(element)
            }
        }
        return result
    }
}

extension PayloadPattern.Step {
    fileprivate var isChoice: Bool {
        switch self {
        case .each, .eachMember: true
        case .key, .text: false
        }
    }
}

extension MediaPlace {
    /// The key for media of a type; nil where keys say nothing, or there is none for it.
    func key(for type: AttachmentType, now: String) -> String? {
        // Where there is no key for GIFs, they go under that for images.
        let animations = keys.filter { $0.kind == type.kind && $0.isAnimation == (type == .gif) }
        let fitting = animations.isEmpty ? keys.filter { $0.kind == type.kind && !$0.isAnimation } : animations
        guard keys.contains(where: { $0.key == now }) else { return nil }
        return fitting.contains { $0.key == now } ? now : fitting.first?.key
    }
}
