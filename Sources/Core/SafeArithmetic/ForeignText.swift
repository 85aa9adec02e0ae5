/// Text from outside the process, compared, hashed, sorted and searched by its bytes.
///
/// Swift compares and hashes a `String` after normalizing it, in time that is quadratic in the length of a run of
/// combining marks: one header of 63 KB takes a second. So text of a server, a file, a message or a caller is either of
/// this type, or a `String` whose bytes `CombiningMarks` has checked before.
///
/// It has no description: `string` is what is passed on, and `MessageText` what is shown.
package struct ForeignText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    /// The text as a `String`: to be passed on, never to be compared.
    package let string: String

    package init(_ text: some StringProtocol) { string = String(text) }

    /// Invalid UTF-8 becomes U+FFFD.
    package init(_ bytes: some Collection<UInt8>) { string = String(decoding: bytes, as: UTF8.self) }

    package init(stringLiteral text: StaticString) { string = text.description }

    package var utf8: String.UTF8View { string.utf8 }
    package var isEmpty: Bool { utf8.isEmpty }

    package static func == (left: ForeignText, right: ForeignText) -> Bool { left.utf8.elementsEqual(right.utf8) }

    package static func < (left: ForeignText, right: ForeignText) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = string
        text.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
        hasher.combine(UInt8(0xFF))
    }

    /// With the letters A to Z in lowercase.
    package var lowercased: ForeignText { ForeignText(utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }) }

    /// Without spaces and tabs at both ends.
    package var trimmed: ForeignText {
        let start = utf8.drop(while: Self.isBlank)
        return ForeignText(start.reversed().drop(while: Self.isBlank).reversed().map(\.self))
    }

    /// Without spaces and tabs.
    package var withoutBlanks: ForeignText { ForeignText(utf8.filter { !Self.isBlank($0) }) }

    package func hasPrefix(_ prefix: ForeignText) -> Bool { utf8.starts(with: prefix.utf8) }

    package func contains(_ byte: UInt8) -> Bool { utf8.contains(byte) }

    package func dropFirst(_ count: Int) -> ForeignText { ForeignText(utf8.dropFirst(count).map(\.self)) }

    /// The parts between the separators, empty ones included.
    package func split(at separator: UInt8, maxSplits: Int = .max) -> [ForeignText] {
        utf8.split(separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: false)
            .map { ForeignText(Substring($0)) }
    }

    /// The number that the text is, in ASCII digits only; `Int.max` for a larger one, nil for any other text.
    package var number: Int? {
        guard !isEmpty, utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(string) ?? .max
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// Checks text for runs of combining marks before it becomes a `String` that a library compares.
package enum CombiningMarks {
    /// Marks in a row, as in Unicode's stream-safe text format (UAX #15); no language has ten.
    package static let runMax = 30

    /// Whether no run of combining marks is longer than `runMax`. Linear; takes bytes that are not UTF-8, too.
    package static func areBounded(in bytes: some Sequence<UInt8>) -> Bool {
        var run = CombiningMarkRun()
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): if !run.continues(with: scalar) { return false }
            case .error: run = CombiningMarkRun()
            case .emptyInput: return true
            }
        }
    }

    package static func areBounded(in text: String) -> Bool {
        guard text.utf8.count > runMax else { return true }
        return areBounded(in: text.utf8)
    }
}

/// Counts the combining marks in a row while a text is read.
package struct CombiningMarkRun {
    private var count = 0

    package init() {}

    /// Counts a scalar; false when it is one mark too many.
    package mutating func continues(with scalar: Unicode.Scalar) -> Bool {
        // Marks begin at U+0300.
        guard scalar.value >= 0x300, scalar.properties.canonicalCombiningClass != .notReordered else {
            count = 0
            return true
        }
        count += 1
        return count <= CombiningMarks.runMax
    }
}
