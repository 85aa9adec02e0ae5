/// JSON as a tree whose numbers are text, so that what no number type holds can be written into it.
indirect enum JSONTree {
    case object([(key: String, value: JSONTree)])
    case array([JSONTree])
    /// A number, a string with its quotes, or a word.
    case token(String)

    /// Reads what `JSONEncoder` has written.
    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        self = Self.value(&rest)
    }

    private static func value(_ rest: inout ArraySlice<UInt8>) -> JSONTree {
        switch rest.first {
        case UInt8(ascii: "{"):
            var members: [(key: String, value: JSONTree)] = []
            repeat {
                rest = rest.dropFirst()
                guard rest.first == UInt8(ascii: "\"") else { break }
                let key = token(&rest)
                rest = rest.dropFirst()
                members.append((key, value(&rest)))
            } while rest.first == UInt8(ascii: ",")
            rest = rest.dropFirst()
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONTree] = []
            repeat {
                rest = rest.dropFirst()
                guard rest.first != UInt8(ascii: "]") else { break }
                elements.append(value(&rest))
            } while rest.first == UInt8(ascii: ",")
            rest = rest.dropFirst()
            return .array(elements)
        default: return .token(token(&rest))
        }
    }

    private static func token(_ rest: inout ArraySlice<UInt8>) -> String {
        var (end, isText) = (rest.startIndex, false)
        while end < rest.endIndex {
            let byte = rest[end]
            if isText, byte == UInt8(ascii: "\\") {
                end += 2
                continue
            }
            if byte == UInt8(ascii: "\"") { isText.toggle() }
            if !isText, ",:}]".utf8.contains(byte) { break }
            end += 1
        }
        defer { rest = rest[min(end, rest.endIndex)...] }
        return String(decoding: rest[..<min(end, rest.endIndex)], as: UTF8.self)
    }

    /// Values in it, itself included.
    var count: Int {
        switch self {
        case .object(let members): members.reduce(1) { $0 + $1.value.count }
        case .array(let elements): elements.reduce(1) { $0 + $1.count }
        case .token: 1
        }
    }

    /// What becomes of one value.
    enum Change {
        case replace(JSONTree)
        case remove
        case multiply(Int)
    }

    /// Changes the value of that number, from 0, in the order of the text; the whole is 0 and stays.
    mutating func change(_ number: Int, _ change: Change) {
        var next = 1
        apply(change, at: number, &next)
    }

    private mutating func apply(_ change: Change, at number: Int, _ next: inout Int) {
        switch self {
        case .object(var members):
            for index in members.indices {
                if next == number {
                    switch change {
                    case .replace(let value): members[index].value = value
                    case .remove: members.remove(at: index)
                    case .multiply(let count):
                        members += Array(repeating: members[index], count: count)
                    }
                    next = .max
                    break
                }
                guard next != .max else { break }
                next += 1
                members[index].value.apply(change, at: number, &next)
            }
            self = .object(members)
        case .array(var elements):
            for index in elements.indices {
                if next == number {
                    switch change {
                    case .replace(let value): elements[index] = value
                    case .remove: elements.remove(at: index)
                    case .multiply(let count): elements += Array(repeating: elements[index], count: count)
                    }
                    next = .max
                    break
                }
                guard next != .max else { break }
                next += 1
                elements[index].apply(change, at: number, &next)
            }
            self = .array(elements)
        case .token: break
        }
    }

    var text: String {
        switch self {
        case .object(let members): "{" + members.map { "\($0.key):\($0.value.text)" }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .token(let text): text
        }
    }
}
