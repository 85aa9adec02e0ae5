/// A string of a JSON text: what it says, and where in the text each byte of that is spelled.
///
/// So JSON inside a string is edited where it stands, and the rest of the string keeps its spelling.
struct PayloadStringToken {
    /// UTF-8.
    private(set) var content: [UInt8] = []
    /// Of each byte of the content, and of its end.
    private var origins: [Int] = []
    /// Whether slashes are written `\/`, as PHP does.
    private(set) var escapesSlashes = false

    /// A string that was read before, with its quotes.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        content.reserveCapacity(range.count)
        var position = range.lowerBound + 1
        while position < range.upperBound - 1 {
            let start = position
            let before = content.count
            if bytes[position] != UInt8(ascii: "\\") {
                content.append(bytes[position])
                position += 1
            } else if let byte = PayloadSpelling.meaning(ofEscape: bytes[position + 1]) {
                if byte == UInt8(ascii: "/") { escapesSlashes = true }
                content.append(byte)
                position += 2
            } else {
                let units = Self.codeUnits(bytes, at: position)
                content += String(decoding: units, as: UTF16.self).utf8
                position += 6 * units.count
            }
            origins += repeatElement(start, count: content.count - before)
        }
        origins.append(position)
    }

    /// One unit, or the two of a pair.
    private static func codeUnits(_ bytes: [UInt8], at start: Int) -> [UInt16] {
        guard let unit = PayloadSpelling.codeUnit(bytes, at: start) else {
            preconditionFailure("An escape was checked when it was read.")
        }
        guard UTF16.isLeadSurrogate(unit), let trail = PayloadSpelling.codeUnit(bytes, at: start + 6) else {
            return [unit]
        }
        return [unit, trail]
    }

    /// A change to what the string says, as a change to the text that it stands in.
    func lifted(_ splice: PayloadSplice) -> PayloadSplice {
        PayloadSplice(
            range: origins[splice.range.lowerBound]..<origins[splice.range.upperBound],
            bytes: PayloadSpelling.inside(splice.bytes, escapingSlashes: escapesSlashes))
    }
}
