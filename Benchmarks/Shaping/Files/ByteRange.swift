/// A `Range` header that was read (RFC 9110, 14.1.2).
enum ByteRange: Hashable {
    /// All of it: no range, several, or one that cannot be read.
    case all
    case part(Range<Int>)
    /// Behind the end.
    case none

    init(_ field: String?, of bytes: Int) {
        self = .all
        guard let field, field.hasPrefix("bytes=") else { return }
        let ends = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { 48...57 ~= $0 } }), !ends.allSatisfy(\.isEmpty)
        else { return }
        let (first, last) = (Int(ends[0]) ?? .max, Int(ends[1]) ?? .max)
        if ends[0].isEmpty {
            self = last > 0 && bytes > 0 ? .part(max(0, bytes - last)..<bytes) : .none
        } else if first <= last {
            self = first < bytes ? .part(first..<(min(last, bytes - 1) + 1)) : .none
        }
    }
}
