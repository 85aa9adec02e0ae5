/// A value that matches a pattern.
struct PatternMatch: Sendable, Hashable {
    let path: PayloadPath
    let value: PayloadValue
    /// The steps that matched the pattern's open steps, in order.
    let choices: [[PayloadPath.Step]]
}

extension PayloadPattern {
    /// Returns the values that match the pattern, in the order of the payload.
    ///
    /// - Parameters:
    ///   - countMax: The number of matches after which the search ends.
    ///   - isWanted: Whether to include a match.
    func matches(
        in top: PayloadValue, countMax: Int = .max, where isWanted: (PatternMatch) -> Bool = { _ in true }
    ) -> [PatternMatch] {
        var found: [PatternMatch] = []
        Self.follow(steps[...], here: PatternMatch(path: PayloadPath(), value: top, choices: [])) { match in
            if isWanted(match) { found.append(match) }
            return found.count < countMax
        }
        return found
    }

    /// The path with the choices of a match of another pattern for the open steps; it need not exist.
    package func path(choosing choices: [[PayloadPath.Step]]) -> PayloadPath {
        var choices = choices[...]
        return PayloadPath(
            steps.flatMap { step -> [PayloadPath.Step] in
                switch step {
                case .key(let key): [.key(key)]
                case .text: [.text]
                case .each, .first, .eachMember, .mediaBelow, .dotted: choices.popFirst() ?? []
                }
            })
    }

    /// Passes matches to `body` until it returns false; returns false when it did.
    @discardableResult
    private static func follow(
        _ steps: ArraySlice<Step>, here: PatternMatch, _ body: (PatternMatch) -> Bool
    ) -> Bool {
        guard let step = steps.first else { return body(here) }
        let rest = steps.dropFirst()
        switch step {
        case .key(let key):
            guard let value = here.value[key] else { return true }
            return follow(rest, here: here.going(.key(key), to: value), body)
        case .text:
            guard let value = here.value.embeddedJSON else { return true }
            return follow(rest, here: here.going(.text, to: value), body)
        case .first:
            guard let value = here.value[0] else { return true }
            return follow(rest, here: here.choosing([.index(0)], to: value), body)
        case .each:
            let elements = here.value.elements ?? []
            return elements.indices.allSatisfy { index in
                // Skips elements without the next key before creating a path: an array may be long.
                if case .key(let key) = rest.first, elements[index][key] == nil { return true }
                return follow(rest, here: here.choosing([.index(index)], to: elements[index]), body)
            }
        case .eachMember:
            let members = here.value.members ?? []
            return members.allSatisfy { follow(rest, here: here.choosing([.key($0.key)], to: $0.value), body) }
        case .mediaBelow:
            return MediaURLSearch.urls(below: here.value).allSatisfy { path, value in
                follow(rest, here: here.choosing(path.steps, to: value), body)
            }
        case .dotted(let parts):
            return keys(parts[...], chosen: [], value: here.value) { chosen, value in
                if !rest.isEmpty, let inner = value.embeddedContainer {
                    return follow(rest, here: here.choosing(chosen + [.text], to: inner), body)
                }
                return follow(rest, here: here.choosing(chosen, to: value), body)
            }
        }
    }

    /// Tries every way to read the parts as keys and indices, the longest keys first.
    ///
    /// Each value is visited at most once, since the keys on its path determine how many parts are consumed.
    private static func keys(
        _ parts: ArraySlice<String>, chosen: [PayloadPath.Step], value: PayloadValue,
        _ body: ([PayloadPath.Step], PayloadValue) -> Bool
    ) -> Bool {
        guard let part = parts.first else { return body(chosen, value) }
        if let inner = value.embeddedContainer { return keys(parts, chosen: chosen + [.text], value: inner, body) }
        if case .array = value {
            guard let index = Int(part), let element = value[index] else { return true }
            return keys(parts.dropFirst(), chosen: chosen + [.index(index)], value: element, body)
        }
        // Comparing the existing keys is cheaper than generating all possible ones.
        let fitting = (value.members ?? []).compactMap { member -> (parts: Int, member: PayloadMember)? in
            let own = member.key.split(separator: ".", omittingEmptySubsequences: false)
            return own.elementsEqual(parts.prefix(own.count)) { $0 == $1 } ? (own.count, member) : nil
        }
        return fitting.sorted { $0.parts > $1.parts }.allSatisfy { fit in
            keys(parts.dropFirst(fit.parts), chosen: chosen + [.key(fit.member.key)], value: fit.member.value, body)
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
    /// The parsed JSON text in a string; nil when this is not a string or not JSON.
    var embeddedJSON: PayloadValue? {
        guard let text = string, text.utf8.count <= Limits.payloadInputBytesMax else { return nil }
        return try? PayloadValue(json: Array(text.utf8))
    }

    /// The object or array in a JSON text; nil for other strings, which need not be parsed as a whole.
    var embeddedContainer: PayloadValue? {
        guard let text = string, let first = text.utf8.first(where: { !" \t\n\r".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return nil }
        return embeddedJSON
    }

    /// The value at a path; nil when there is none.
    package func value(at path: PayloadPath) -> PayloadValue? {
        path.steps.reduce(self) { (value: PayloadValue?, step) in
            switch step {
            case .key(let key): value?[key]
            case .index(let index): value?[index]
            case .text: value?.embeddedJSON
            }
        }
    }
}

/// The form in tables: `ab.att.url`, `_wp.attachments[].url`, `att.*`, `krt_attributes.attachment_url`.
extension PayloadPattern: CustomStringConvertible {
    public var description: String {
        steps.reduce(into: "") { text, step in
            let separator = text.isEmpty ? "" : "."
            switch step {
            case .key(let key): text += separator + key
            case .each: text += "[]"
            case .first: text += "[0]"
            case .eachMember: text += "\(separator)*"
            case .text: break
            case .mediaBelow: text += "\(separator)**"
            case .dotted(let parts): text += separator + parts.joined(separator: ".")
            }
        }
    }
}

extension Limits {
    /// Bytes of an input payload: its URLs may be longer than the new ones, and it may be indented.
    package static let payloadInputBytesMax = 65_536
}
