import AttachPrepModel
import RichPush
import SafeArithmetic

/// The attribute list of a tag: `NAME=value,NAME="text"` (RFC 8216, 4.2).
struct PlaylistAttributes {
    private var values: [String: Substring] = [:]

    /// - Returns: Nil for a malformed list or a name that occurs twice.
    init?(_ text: Substring) {
        var rest = text
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "=") else { return nil }
            let name = rest[..<equals].drop(while: \.isWhitespace)
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameCharacter) else { return nil }
            rest = rest[rest.index(after: equals)...]
            guard let value = Self.value(&rest), values.updateValue(value, forKey: String(name)) == nil else {
                return nil
            }
        }
    }

    /// Removes a value and the comma after it.
    private static func value(_ rest: inout Substring) -> Substring? {
        let value: Substring
        if rest.first == "\"" {
            let quoted = rest.dropFirst()
            guard let close = quoted.firstIndex(of: "\"") else { return nil }
            // With its first quote, so that a quoted and a plain value differ.
            value = rest[rest.startIndex..<close]
            rest = quoted[quoted.index(after: close)...].drop(while: \.isWhitespace)
        } else {
            let end = rest.firstIndex(of: ",") ?? rest.endIndex
            value = rest[..<end]
            rest = rest[end...]
        }
        guard rest.isEmpty || rest.first == "," else { return nil }
        rest = rest.dropFirst()
        return value
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// A quoted string without its quotes; nil for a plain value.
    func quoted(_ name: String) -> String? {
        guard let value = values[name], value.first == "\"" else { return nil }
        return String(value.dropFirst())
    }

    /// An enumerated string; nil for a quoted one.
    func plain(_ name: String) -> String? {
        guard let value = values[name], value.first != "\"" else { return nil }
        return String(value.trimmingWhitespace)
    }

    /// A decimal number; nil if it is missing, negative or too large.
    func integer(_ name: String) -> Int? { plain(name).flatMap(PlaylistNumber.integer) }

    /// A decimal number with a fraction; nil if it is missing, negative or not finite.
    func decimal(_ name: String) -> Double? { plain(name).flatMap(PlaylistNumber.decimal) }

    /// "1280x720".
    func resolution(_ name: String) -> (width: Int, height: Int)? {
        guard let sides = plain(name)?.split(separator: "x", omittingEmptySubsequences: false), sides.count == 2,
            let width = PlaylistNumber.integer(sides[0]), let height = PlaylistNumber.integer(sides[1])
        else { return nil }
        return (width, height)
    }

    /// A hexadecimal number of up to 16 bytes ("0x…"), filled with zeros on the left.
    func block(_ name: String) -> [UInt8]? {
        guard let text = plain(name), text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
        let digits = text.utf8.dropFirst(2)
        guard (1...32).contains(digits.count) else { return nil }
        var block = [UInt8](repeating: 0, count: 16)
        for (index, digit) in digits.reversed().enumerated() {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
            // Bounded: 32 digits of 4 bits each.
            block[15 - index / 2] |= UInt8(truncatingIfNeeded: value) << (index % 2 == 0 ? 0 : 4)
        }
        return block
    }
}

/// Numbers as RFC 8216 writes them: digits only, without a sign or an exponent.
enum PlaylistNumber {
    static func integer(_ text: some StringProtocol) -> Int? { whole(text) }

    static func unsigned(_ text: some StringProtocol) -> UInt64? { whole(text) }

    private static func whole<Number: FixedWidthInteger>(_ text: some StringProtocol) -> Number? {
        // Bounded: text, parsed into an optional.
        text.utf8.allSatisfy(isDigit) ? Number(text) : nil
    }

    static func decimal(_ text: some StringProtocol) -> Double? {
        guard !text.isEmpty, text.utf8.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") }),
            let value = Double(text), value.isFinite
        else { return nil }
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
