/// Reads one JSON text, strictly as RFC 8259 has it, in one pass and no deeper than `payloadDepthMax`.
struct PayloadParser {
    let bytes: [UInt8]
    var position = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The one value of the text.
    mutating func top() throws(AttachPrepError) -> PayloadNode {
        try refuseByteOrderMark()
        skipWhitespace()
        guard position < bytes.count else {
            throw fault("is empty", "hand over a JSON object")
        }
        let node = try value()
        skipWhitespace()
        guard position == bytes.count else {
            throw isComment ? comment() : fault("has more after its end", "hand over one value alone")
        }
        return node
    }

    private func refuseByteOrderMark() throws(AttachPrepError) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw fault("has a byte order mark", "save it as UTF-8 without one")
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw fault("is UTF-16, by the byte order mark", "save it as UTF-8 without one")
        }
    }

    private mutating func value() throws(AttachPrepError) -> PayloadNode {
        let start = position
        let content: PayloadNode.Content =
            switch next {
            case UInt8(ascii: "{"): try object()
            case UInt8(ascii: "["): try array()
            case UInt8(ascii: "\""): .string(try string())
            case let byte? where byte == UInt8(ascii: "-") || isDigit(byte): .number(try number())
            default: try word()
            }
        return PayloadNode(range: start..<position, content: content)
    }

    private mutating func object() throws(AttachPrepError) -> PayloadNode.Content {
        try begin()
        defer { depth -= 1 }
        return .object(try members())
    }

    private mutating func array() throws(AttachPrepError) -> PayloadNode.Content {
        try begin()
        defer { depth -= 1 }
        return .array(try elements())
    }

    /// Past an opening bracket, one level deeper.
    private mutating func begin() throws(AttachPrepError) {
        guard depth < Limits.payloadDepthMax else {
            throw fault("is nested more than \(Limits.payloadDepthMax) levels deep", "flatten it")
        }
        depth += 1
        position += 1
        skipWhitespace()
    }

    private mutating func members() throws(AttachPrepError) -> [PayloadNodeMember] {
        var members: [PayloadNodeMember] = []
        var keys: Set<String> = []
        if end(UInt8(ascii: "}")) { return members }
        repeat {
            let start = position
            let key = try self.key(after: members.isEmpty ? "{" : ",")
            guard keys.insert(key).inserted else {
                throw PayloadFault(bytes: bytes).error(
                    "has the key \(SpokenText.quoted(key)) twice in one object", at: start,
                    "readers differ on which one counts, so keep one")
            }
            let keyRange = start..<position
            try colon()
            members.append(PayloadNodeMember(key: key, keyRange: keyRange, node: try value()))
        } while try goesOn(to: UInt8(ascii: "}"))
        return members
    }

    private mutating func elements() throws(AttachPrepError) -> [PayloadNode] {
        var elements: [PayloadNode] = []
        if end(UInt8(ascii: "]")) { return elements }
        repeat {
            if next == UInt8(ascii: "]") { throw fault("has a comma before ]", "remove the comma") }
            elements.append(try value())
        } while try goesOn(to: UInt8(ascii: "]"))
        return elements
    }

    private mutating func key(after before: String) throws(AttachPrepError) -> String {
        switch next {
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: "}"): throw fault("has a comma before }", "remove the comma")
        case UInt8(ascii: "'"): throw fault("has a key in single quotes", "use double quotes")
        case nil: throw cutOff()
        case _ where isComment: throw comment()
        default: throw fault("has no key after \(before)", "write keys in double quotes")
        }
    }

    private mutating func colon() throws(AttachPrepError) {
        skipWhitespace()
        guard next == UInt8(ascii: ":") else {
            throw position < bytes.count ? fault("has a key without a colon", "write a colon and a value") : cutOff()
        }
        position += 1
        skipWhitespace()
    }

    /// Past the end of what it closes, when it is there.
    private mutating func end(_ bracket: UInt8) -> Bool {
        guard next == bracket else { return false }
        position += 1
        return true
    }

    /// Whether a comma follows; throws for what is neither that nor the end.
    private mutating func goesOn(to bracket: UInt8) throws(AttachPrepError) -> Bool {
        skipWhitespace()
        if end(bracket) { return false }
        guard next == UInt8(ascii: ",") else {
            if position == bytes.count { throw cutOff() }
            let closing = Character(Unicode.Scalar(bracket))
            throw isComment ? comment() : fault("has neither a comma nor \(closing)", "write one of them")
        }
        position += 1
        skipWhitespace()
        return true
    }
}

extension PayloadParser {
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipWhitespace() {
        while let byte = next, PayloadText.isWhitespace(byte) { position += 1 }
    }

    func fault(_ what: String, _ remedy: String) -> AttachPrepError {
        PayloadFault(bytes: bytes).error(what, at: position, remedy)
    }

    func cutOff() -> AttachPrepError {
        PayloadFault(bytes: bytes).error("ends in the middle", at: bytes.count, "hand over all of it")
    }

    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    var isComment: Bool { next == UInt8(ascii: "/") || next == UInt8(ascii: "#") }

    func comment() -> AttachPrepError {
        fault("has a comment", "remove it, since JSON has none")
    }
}
