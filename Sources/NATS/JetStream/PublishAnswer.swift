/// What a stream's leader says of a message that it keeps: `{"stream":"KV_jobs","seq":12}`, before 2.12 with a space
/// after the comma.
package enum PublishAnswer {
    /// Reads the message's number where the answer is as servers write it, without a JSON parser: that took longer than
    /// all else that is done with an answer, and each job has four of them.
    ///
    /// - Returns: nil for everything else: an error, other members, another server's spelling.
    package static func number(in bytes: [UInt8]) -> UInt64? {
        var rest = bytes[...]
        guard take(opening, from: &rest), let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        // A name with an escape in it is left to the parser.
        guard !rest[..<end].contains(UInt8(ascii: "\\")) else { return nil }
        rest = rest[end...]
        guard take(quoteAndComma, from: &rest) else { return nil }
        if rest.first == UInt8(ascii: " ") { rest.removeFirst() }
        guard take(member, from: &rest), rest.popLast() == UInt8(ascii: "}"), let first = rest.first,
            rest.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        // JSON has no number with a zero before it.
        if first == UInt8(ascii: "0"), rest.count > 1 { return nil }
        return UInt64(String(decoding: rest, as: UTF8.self))  // Bounded: text, which is nil where it is no number.
    }

    /// Whether an error says that the last message of the subject is not the one that was named.
    package static func isConflict(_ number: Int?) -> Bool {
        number == NATSError.Number.wrongLastSequence || number == NATSError.Number.wrongLastSequenceUnderWay
    }

    private static let opening = Array(#"{"stream":""#.utf8)
    private static let quoteAndComma = Array(#"","#.utf8)
    private static let member = Array(#""seq":"#.utf8)

    private static func take(_ start: [UInt8], from rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: start) else { return false }
        rest = rest.dropFirst(start.count)
        return true
    }
}
