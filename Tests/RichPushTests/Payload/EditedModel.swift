import RichPush

/// The same edits on values alone: what edited bytes have to say.
///
/// JSON inside strings is a value here, so that two spellings of it compare as equal.
indirect enum EditedModel: Equatable {
    case object([Member])
    case array([EditedModel])
    case held(EditedModel)
    case scalar(PayloadValue)

    struct Member: Equatable {
        var key: [UInt8]
        var value: EditedModel
    }

    init(_ value: PayloadValue) {
        switch value {
        case .object(let members):
            self = .object(members.map { Member(key: Array($0.key.utf8), value: EditedModel($0.value)) })
        case .array(let elements): self = .array(elements.map(EditedModel.init))
        case .string(let text):
            self = (try? PayloadValue(json: Array(text.utf8))).map { .held(EditedModel($0)) } ?? .scalar(value)
        case .number, .bool, .null: self = .scalar(value)
        }
    }

    mutating func apply(_ edit: PayloadEdit) {
        switch edit {
        case .replace(let path, let value): change(path.steps[...]) { $0 = EditedModel(value) }
        case .rename(let path, let key):
            change(path.steps.dropLast()) { $0.rename(path.steps.last, to: key) }
        case .remove(let path): change(path.steps.dropLast()) { $0.remove(path.steps.last) }
        case .set(let key, let value, let path): change(path.steps[...]) { $0.set(key, EditedModel(value)) }
        }
    }

    private mutating func change(_ steps: ArraySlice<PayloadPath.Step>, _ body: (inout EditedModel) -> Void) {
        guard let step = steps.first else { return body(&self) }
        switch (self, step) {
        case (.object(var members), .key(let key)):
            for index in members.indices where members[index].key == Array(key.utf8) {
                members[index].value.change(steps.dropFirst(), body)
            }
            self = .object(members)
        case (.array(var elements), .index(let index)):
            elements[index].change(steps.dropFirst(), body)
            self = .array(elements)
        case (.held(var inner), .text):
            inner.change(steps.dropFirst(), body)
            self = .held(inner)
        default: break
        }
    }

    private mutating func rename(_ step: PayloadPath.Step?, to key: String) {
        guard case .object(var members) = self, case .key(let old)? = step else { return }
        for index in members.indices where members[index].key == Array(old.utf8) {
            members[index].key = Array(key.utf8)
        }
        self = .object(members)
    }

    private mutating func remove(_ step: PayloadPath.Step?) {
        switch (self, step) {
        case (.object(let members), .key(let key)?): self = .object(members.filter { $0.key != Array(key.utf8) })
        case (.array(var elements), .index(let index)?):
            elements.remove(at: index)
            self = .array(elements)
        default: break
        }
    }

    private mutating func set(_ key: String, _ value: EditedModel) {
        guard case .object(var members) = self else { return }
        if let index = members.firstIndex(where: { $0.key == Array(key.utf8) }) {
            members[index].value = value
        } else {
            members.append(Member(key: Array(key.utf8), value: value))
        }
        self = .object(members)
    }
}
