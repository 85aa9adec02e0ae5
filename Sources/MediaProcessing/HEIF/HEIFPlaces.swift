import SafeArithmetic

/// Where the bytes of a HEIF's items lie: its `iloc` box.
///
/// Source: ISO/IEC 14496-12, 8.11.3.
struct HEIFPlaces {
    /// The parts of an item, in order; nil where they lie outside of the file or of what we know.
    typealias Place = [Range<Int>]

    /// An item has a few parts, and all items one or two.
    private static let partsMax = 100_000

    private(set) var places: [Int: Place] = [:]
    private let window: ByteWindow
    private let inlined: Range<Int>?

    /// - Parameter inlined: The content of `idat`, in which small items lie.
    init(_ box: Range<Int>, inlined: Range<Int>?, _ window: ByteWindow) throws {
        self.window = window
        self.inlined = inlined
        var reader = try HEIFReader(fullBox: box, window)
        let sizes = try reader.number(1)
        let others = try reader.number(1)
        let form = Form(
            version: reader.version, offset: sizes >> 4, length: sizes & 15, base: others >> 4,
            index: reader.version == 0 ? 0 : others & 15)
        var parts = 0
        for _ in 0..<(try reader.number(form.isWide ? 4 : 2)) { try read(&reader, form, &parts) }
    }

    /// Bytes of each kind of number.
    private struct Form {
        let version: Int
        let offset: Int
        let length: Int
        let base: Int
        let index: Int

        var isWide: Bool { version >= 2 }
    }

    private mutating func read(_ reader: inout HEIFReader, _ form: Form, _ parts: inout Int) throws {
        let item = try reader.number(form.isWide ? 4 : 2)
        let method = try form.version == 0 ? 0 : reader.number(2) & 15
        let isElsewhere = try reader.number(2) != 0
        let base = try reader.number(form.base)
        var place: Place? = isElsewhere || method > 1 ? nil : []
        for _ in 0..<(try reader.number(2)) {
            _ = try reader.number(form.index)
            let offset = try reader.number(form.offset)
            let length = try reader.number(form.length)
            parts += 1
            guard parts <= Self.partsMax else { throw window.broken("more than \(Self.partsMax) parts of items") }
            if let part = self.part(base, offset, length, method: method) {
                place?.append(part)
            } else {
                place = nil
            }
        }
        places[item] = place
    }

    /// Nil for a part that does not lie in the file, or that is as long as the file says to its end.
    private func part(_ base: Int, _ offset: Int, _ length: Int, method: Int) -> Range<Int>? {
        guard let home = method == 0 ? 0..<window.size : inlined else { return nil }
        guard let start = base.adding(exactly: offset), start >= 0, start <= home.count else { return nil }
        // Bounded throughout: the start lies in its home, and so does the end.
        guard length > 0, length <= home.count - start else { return nil }
        return (home.lowerBound + start)..<(home.lowerBound + start + length)
    }
}
