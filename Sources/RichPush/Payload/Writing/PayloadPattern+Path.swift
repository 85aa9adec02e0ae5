extension PayloadPattern {
    /// The path of this form that takes the same elements as one of another form; nil where that cannot be told.
    func path(like path: PayloadPath, of form: PayloadPattern) -> PayloadPath? {
        guard path.steps.count == form.steps.count else { return nil }
        let choices = zip(form.steps, path.steps).filter { $0.0.isChoice }.map { [$0.1] }
        return self.path(choosing: choices)
    }
}

extension PayloadPattern.Step {
    fileprivate var isChoice: Bool {
        switch self {
        case .each, .first, .eachMember, .dotted: true
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
