/// As tables write it: `ab.att.url`, `_wp.attachments[].url`, `att.*`, `krt_attributes.attachment_url`.
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
            case .dotted(let parts): text += separator + parts.joined(separator: ".")
            }
        }
    }
}
