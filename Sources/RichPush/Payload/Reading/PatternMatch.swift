/// Something that stands where a pattern leads.
struct PatternMatch: Sendable, Hashable {
    let path: PayloadPath
    let value: PayloadValue
    /// What stands for the pattern's open steps, in their order.
    let choices: [[PayloadPath.Step]]
}

extension PayloadPattern {
    /// Everything that stands where the pattern leads, in the order of the payload.
    ///
    /// - Parameters:
    ///   - countMax: how many are looked for.
    ///   - isWanted: whether one counts.
    func matches(
        in top: PayloadValue, countMax: Int = .max, where isWanted: (PatternMatch) -> Bool = { _ in true }
    ) -> [PatternMatch] {
        var found: [PatternMatch] = []
        Self.follow(steps[...], PatternMatch(path: PayloadPath(), value: top, choices: [])) { match in
            if isWanted(match) { found.append(match) }
            return found.count < countMax
        }
        return found
    }

    /// The one place that another pattern's choices lead to, whether or not something stands there.
    func path(choosing choices: [[PayloadPath.Step]]) -> PayloadPath {
        var choices = choices[...]
        return PayloadPath(
            steps.flatMap { step -> [PayloadPath.Step] in
                switch step {
                case .key(let key): [.key(key)]
                case .text: [.text]
                case .each, .first, .eachMember, .dotted: choices.popFirst() ?? []
                }
            })
    }

    /// Hands over what is found until it is told to stop; false when it was.
    @discardableResult
    private static func follow(
        _ steps: ArraySlice<Step>, _ here: PatternMatch, _ take: (PatternMatch) -> Bool
    ) -> Bool {
        guard let step = steps.first else { return take(here) }
        let rest = steps.dropFirst()
        switch step {
        case .key(let key):
            guard let value = here.value[key] else { return true }
            return follow(rest, here.going(.key(key), to: value), take)
        case .text:
            guard let value = here.value.insideText else { return true }
            return follow(rest, here.going(.text, to: value), take)
        case .first:
            guard let value = here.value[0] else { return true }
            return follow(rest, here.choosing([.index(0)], to: value), take)
        case .each:
            let elements = here.value.elements ?? []
            return elements.indices.allSatisfy { index in
                // Paths are made only where the next key is: an array may be long.
                if case .key(let key) = rest.first, elements[index][key] == nil { return true }
                return follow(rest, here.choosing([.index(index)], to: elements[index]), take)
            }
        case .eachMember:
            let members = here.value.members ?? []
            return members.allSatisfy { follow(rest, here.choosing([.key($0.key)], to: $0.value), take) }
        case .dotted(let parts):
            return keys(parts[...], [], here.value) { chosen, value in
                follow(rest, here.choosing(chosen, to: value), take)
            }
        }
    }

    /// Every way to read the parts as keys and indices, the longest keys first.
    ///
    /// A place of the payload is visited once at most, since its keys say how many parts are used up.
    private static func keys(
        _ parts: ArraySlice<String>, _ chosen: [PayloadPath.Step], _ value: PayloadValue,
        _ take: ([PayloadPath.Step], PayloadValue) -> Bool
    ) -> Bool {
        guard let part = parts.first else { return take(chosen, value) }
        if case .array = value {
            guard let index = Int(part), let element = value[index] else { return true }
            return keys(parts.dropFirst(), chosen + [.index(index)], element, take)
        }
        // Looking at the keys that are there is less work than making all that could be.
        let fitting = (value.members ?? []).compactMap { member -> (parts: Int, member: PayloadMember)? in
            let own = member.key.split(separator: ".", omittingEmptySubsequences: false)
            return own.elementsEqual(parts.prefix(own.count)) { $0 == $1 } ? (own.count, member) : nil
        }
        return fitting.sorted { $0.parts > $1.parts }.allSatisfy { fit in
            keys(parts.dropFirst(fit.parts), chosen + [.key(fit.member.key)], fit.member.value, take)
        }
    }
}

extension PatternMatch {
    fileprivate func going(_ step: PayloadPath.Step, to value: PayloadValue) -> PatternMatch {
        PatternMatch(path: path.appending(step), value: value, choices: choices)
    }

    fileprivate func choosing(_ chosen: [PayloadPath.Step], to value: PayloadValue) -> PatternMatch {
        PatternMatch(path: PayloadPath(path.steps + chosen), value: value, choices: choices + [chosen])
    }
}

extension PayloadValue {
    /// The JSON that a string holds; nil for what is no string or no JSON.
    var insideText: PayloadValue? {
        guard let text = string, text.utf8.count <= Limits.payloadInputBytesMax else { return nil }
        return try? PayloadValue(json: Array(text.utf8))
    }

    /// What stands at a path.
    func standing(at path: PayloadPath) -> PayloadValue? {
        path.steps.reduce(self) { (value: PayloadValue?, step) in
            switch step {
            case .key(let key): value?[key]
            case .index(let index): value?[index]
            case .text: value?.insideText
            }
        }
    }
}
