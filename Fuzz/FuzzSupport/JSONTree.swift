/// A JSON tree with numbers as text, so that it can contain numbers that no type can represent.
public indirect enum JSONTree {
    case object([(key: String, value: JSONTree)])
    case array([JSONTree])
    /// A number, a string with its quotes, or a literal.
    case token(String)

    /// Parses output of `JSONEncoder`.
    public init(_ bytes: [UInt8]) {
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

    /// The number of values, including this one.
    public var count: Int {
        switch self {
        case .object(let members): members.reduce(1) { $0 + $1.value.count }
        case .array(let elements): elements.reduce(1) { $0 + $1.count }
        case .token: 1
        }
    }

    /// A change of one value.
    public enum Change {
        case replace(JSONTree)
        case remove
        case multiply(Int)
    }

    /// Changes the value with a number, in the order of the text; 0 is the top value, which cannot be changed.
    public mutating func change(_ number: Int, _ change: Change) {
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

    public var text: String {
        switch self {
        case .object(let members): "{" + members.map { "\($0.key):\($0.value.text)" }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .token(let text): text
        }
    }

    /// Corrupts one value, chosen by the input.
    public mutating func spoil(_ input: inout FuzzInput) {
        let place = 1 + Int(input.byte()) % max(1, count - 1)
        let choice = Int(input.byte())
        switch choice {
        case 0..<220: change(place, .replace(.token(Self.tokens[choice % Self.tokens.count])))
        case 220..<235: change(place, .remove)
        // A large tree is not multiplied again, which would take minutes.
        case 235..<250 where count < 300: change(place, .multiply(1 + Int(input.byte()) * (choice == 249 ? 8 : 1)))
        default: change(place, .replace(.token("\"\(String(repeating: "é\\u001b", count: 700))\"")))
        }
    }

    /// Boundary numbers, and values of other types.
    private static let tokens = [
        "0", "1", "-1", "2", "3", "7", "100", "300", "4096", "65500", "10000000", "10000001", "1000000", "2147483647",
        "2147483648", "1e12", "-1e12", "1e9", "0.001", "1e-12", "5e-324", "-0.0", "0.5", "1.5", "12.5", "600", "14400",
        "999999999999", "9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "18446744073709551615", "1e308", "1e400", "-1e400", "NaN", "null", "true", "false", "\"\"", "\"a\"",
        "\"gif\"", "\"mpeg4\"", "\"jpeg\"", "\"mp3\"", "\"../../x\"", "\"public.jpeg\"", "{}", "[]", "[0]",
        "[2147483647,2147483647,2147483647]", "{\"seconds\":{\"_0\":1e12}}", "{\"frame\":{\"_0\":2147483647}}",
        "{\"seconds\":{\"_0\":-1e12}}", "{\"x\":0.1,\"y\":0.1,\"width\":0.5,\"height\":0.5}",
        "{\"x\":0,\"y\":0,\"width\":1e-300,\"height\":1}", "\"running\"", "\"dead\"", "\"succeeded\"",
    ]
}
