internal import SafeArithmetic

/// A `Content-Range` header: which bytes of how many.
package struct ContentRange: Sendable, Hashable {
    /// The first and the last byte sent, from 0.
    package let first: Int
    package let last: Int
    /// The offset behind the last byte.
    package let end: Int
    /// Bytes of the whole; nil when the server does not know ("*").
    package let total: Int?

    /// Bytes of this piece.
    package var length: Int { end.subtracting(clamping: first) }

    /// Reads "bytes 100-199/1000"; nil for anything else, several ranges and a last byte of `Int.max` included.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int(ends[0]), let last = Int(ends[1]), 0 <= first, first <= last,
            let end = last.adding(exactly: 1)
        else { return nil }
        // Bounded: text that is read into an optional.
        total = Int(parts[1])
        guard parts[1] == "*" || total.map({ last < $0 }) == true else { return nil }
        self.first = first
        self.last = last
        self.end = end
    }
}
