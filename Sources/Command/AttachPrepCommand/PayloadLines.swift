import MediaTypes

/// Payloads as JSON Lines: one payload, or one array of payloads, a line.
enum PayloadLines {
    /// A line and its number, from 1.
    struct Line: Sendable, Hashable {
        let number: Int
        let bytes: [UInt8]
    }

    /// The lines without empty ones.
    static func lines(of bytes: [UInt8]) -> [Line] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
            .map { Line(number: $0.offset + 1, bytes: trimmed($0.element)) }
            .filter { !$0.bytes.isEmpty }
    }

    /// Whether the first line that is not empty is a complete JSON object or array, and more lines follow.
    ///
    /// A payload that is spread over several lines does not have a complete value in its first one.
    static func isDetected(in bytes: [UInt8]) -> Bool {
        let newline = UInt8(ascii: "\n")
        let start = bytes.drop { JSONParser.isWhitespace($0) }
        guard let end = start.firstIndex(of: newline),
            start[end...].contains(where: { !JSONParser.isWhitespace($0) })
        else { return false }
        var parser = JSONParser(trimmed(start[..<end]))
        guard let value = try? parser.top() else { return false }
        return switch value.content {
        case .object, .array: true
        case .string, .number, .bool, .null: false
        }
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var line = line.drop { JSONParser.isWhitespace($0) }
        while let last = line.last, JSONParser.isWhitespace(last) { line.removeLast() }
        return Array(line)
    }
}
