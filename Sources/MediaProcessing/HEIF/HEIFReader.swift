/// Numbers of a box, one after another.
struct HEIFReader {
    private let window: ByteWindow
    private let content: Range<Int>
    private var offset: Int
    /// Of a full box.
    private(set) var version = 0
    private(set) var flags = 0

    init(_ content: Range<Int>, _ window: ByteWindow) {
        self.window = window
        self.content = content
        offset = content.lowerBound
    }

    /// A box that begins with its version and flags.
    init(fullBox content: Range<Int>, _ window: ByteWindow) throws {
        self.init(content, window)
        version = try number(1)
        flags = try number(3)
    }

    /// What was not read yet.
    var rest: Range<Int> { offset..<content.upperBound }

    /// Big-endian, of eight bytes at most, in which the sign has its place.
    ///
    /// - Throws: `media.corrupt` past the end of the box.
    mutating func number(_ bytes: Int) throws -> Int {
        guard bytes > 0 else { return 0 }
        if bytes > 8 { throw window.broken("a number of \(bytes) bytes") }
        let place = try step(bytes)
        if bytes == 8, try window.byte(at: place) >= 0x80 { throw window.cut }
        return try window.bigEndian(at: place, bytes: bytes)
    }

    mutating func characters(_ count: Int) throws -> String {
        try window.characters(at: step(count), count: count)
    }

    private mutating func step(_ bytes: Int) throws -> Int {
        // Bounded throughout: the offset lies in the content, and goes no further than its end.
        guard bytes <= content.upperBound - offset else { throw window.cut }
        defer { offset += bytes }
        return offset
    }
}
