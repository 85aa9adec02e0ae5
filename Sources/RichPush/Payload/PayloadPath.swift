/// Where a value of a payload stands, from the top.
public struct PayloadPath: Sendable, Hashable {
    public enum Step: Sendable, Hashable {
        case key(String)
        /// An element of an array, from 0.
        case index(Int)
        /// Into the JSON that a string holds.
        case text
    }

    public var steps: [Step]

    public init(_ steps: [Step] = []) {
        self.steps = steps
    }

    public func appending(_ step: Step) -> PayloadPath { PayloadPath(steps + [step]) }

    /// The place that holds this one; nil for the top.
    public var parent: PayloadPath? { steps.isEmpty ? nil : PayloadPath(Array(steps.dropLast())) }
}

/// As sentences write it: `aps.image`, `_wp.attachments[0].url`, `krt_attributes.attachment_url`.
extension PayloadPath: CustomStringConvertible {
    public var description: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            case .index(let index): text += "[\(index)]"
            case .text: break
            }
        }
    }
}
