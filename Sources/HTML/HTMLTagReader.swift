import CXML
import SafeArithmetic

/// A start tag of a page.
package struct HTMLTag: Sendable, Hashable {
    /// In lower case.
    package let name: String
    /// By name in lowercase; the first of several with one name.
    package let attributes: [String: String]
}

/// Reads the start tags of an HTML page. Owns libxml2's parser.
///
/// The page is parsed as browsers do, whatever errors it has. No tree is built, nothing is loaded, and the text goes to
/// the parser in pieces, between which depth, attributes and time are limited.
///
/// C: the push parser of libxml2's `HTMLparser.h`, with a SAX handler of one callback.
@safe package final class HTMLTagReader {
    private let parser: htmlParserCtxtPtr
    private let collector: TagCollector
    /// Separators in the tag whose end has not arrived.
    private var pendingSeparators = 0

    /// Reads a page until its end or a limit; what was found before the limit is returned.
    ///
    /// - Parameters:
    ///   - page: UTF-8 without NULs.
    ///   - names: The elements to return, in lowercase.
    ///   - beforePiece: Called before each piece of the text; an error it throws ends the work.
    /// - Throws: `HTMLError` when the parser cannot be created; what `beforePiece` throws.
    package static func tags(in page: String, named names: Set<String>, beforePiece: () throws -> Void) throws
        -> [HTMLTag]
    {
        let reader = try HTMLTagReader(names)
        try reader.read(Array(page.utf8), beforePiece: beforePiece)
        return reader.collector.tags
    }

    private init(_ names: Set<String>) throws(HTMLError) {
        xmlInitParser()
        let collector = TagCollector(names: names)
        var handler = unsafe htmlSAXHandler()
        unsafe handler.startElement = { context, name, attributes in
            guard let context = unsafe context, let name = unsafe name else { return }
            unsafe Unmanaged<TagCollector>.fromOpaque(context).takeUnretainedValue().add(name, attributes)
        }
        // The handler is copied; the collector lives as long as the parser.
        let context = unsafe Unmanaged.passUnretained(collector).toOpaque()
        guard let parser = unsafe htmlCreatePushParserCtxt(&handler, context, nil, 0, nil, XML_CHAR_ENCODING_UTF8)
        else {
            throw HTMLError("create_push_parser")
        }
        unsafe (self.parser, self.collector) = (parser, collector)
        // The text is UTF-8 whatever its meta elements say. Bounded: bits of an option set.
        let options =
            HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NOERROR.rawValue | HTML_PARSE_NOWARNING.rawValue
            | HTML_PARSE_NONET.rawValue | HTML_PARSE_IGNORE_ENC.rawValue
        _ = unsafe htmlCtxtUseOptions(parser, CInt(clamping: options))
        _ = unsafe xmlSwitchEncoding(parser, XML_CHAR_ENCODING_UTF8)
    }

    deinit {
        // No tree belongs to it: the handler builds none.
        unsafe htmlFreeParserCtxt(parser)
    }

    private func read(_ page: [UInt8], beforePiece: () throws -> Void) throws {
        var start = 0
        while start < page.count, !collector.isFull {
            try beforePiece()
            // Bounded: the page is in memory.
            let end = min(start + Self.pieceBytes, page.count)
            guard isInLimits(page[start..<end]) else { return }
            unsafe page.withUnsafeBufferPointer { page in
                let piece = unsafe UnsafeBufferPointer(rebasing: page[start..<end])
                _ = unsafe piece.withMemoryRebound(to: CChar.self) { piece in
                    unsafe htmlParseChunk(parser, piece.baseAddress, CInt(clamping: piece.count), 0)
                }
            }
            start = end
        }
    }

    /// The parser compares each attribute with all others of its tag, and an end tag with all open elements.
    private func isInLimits(_ piece: ArraySlice<UInt8>) -> Bool {
        guard unsafe parser.pointee.nameNr <= Self.depthMax else { return false }
        guard unsafe parser.pointee.instate == XML_PARSER_START_TAG, let input = unsafe parser.pointee.input,
            let start = unsafe input.pointee.cur, let end = unsafe input.pointee.end
        else {
            pendingSeparators = 0
            return true
        }
        // A tag whose end has not arrived.
        // Bounded: both point into the parser's input, which is in memory.
        let pending = unsafe UnsafeBufferPointer(start: start, count: max(0, end - start))
        // libxml2 2.9 forgets in the middle of a tag whether it is inside quotes: it has to scan the whole tag again.
        unsafe parser.pointee.checkIndex = 0
        // It began in the last piece; those of a longer one have been counted.
        if pending.count <= Self.pieceBytes { pendingSeparators = unsafe Self.separators(pending) }
        // Bounded: counts bytes in memory.
        pendingSeparators += Self.separators(piece)
        return pendingSeparators <= Self.separatorsMax
    }

    /// Characters that can separate the attributes of a tag.
    private static func separators(_ bytes: some Sequence<UInt8>) -> Int {
        bytes.reduce(into: 0) { count, byte in
            switch byte {
            // Bounded: counts bytes in memory.
            case 0x09, 0x0A, 0x0C, 0x0D, 0x20, UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "'"): count += 1
            default: break
            }
        }
    }

    /// Text that the parser gets at once.
    private static let pieceBytes = 4_096
    /// Elements inside each other; browsers stop at 512.
    private static let depthMax: CInt = 1_000
    /// Separators in a tag that is longer than a piece, apart from those of its last piece.
    private static let separatorsMax = 4_096
}

/// Collects the tags that the parser reports.
private final class TagCollector {
    private let names: Set<String>
    private(set) var tags: [HTMLTag] = []

    init(names: Set<String>) {
        self.names = names
    }

    var isFull: Bool { tags.count >= Self.tagsMax }

    /// - Parameter attributes: Pairs of name and value, which may be nil, then nil; nil when there are none.
    func add(_ name: UnsafePointer<UInt8>, _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?) {
        guard !isFull, let name = unsafe Self.text(name, bytesMax: Self.nameBytesMax), names.contains(name) else {
            return
        }
        var found: [String: String] = [:]
        var next = unsafe attributes
        for _ in 0..<Self.attributesMax {
            guard let pair = unsafe next, let key = unsafe pair[0] else { break }
            if let key = unsafe Self.text(key, bytesMax: Self.nameBytesMax), found[key] == nil,
                let value = unsafe pair[1], let text = unsafe Self.text(value, bytesMax: Self.valueBytesMax)
            {
                found[key] = text
            }
            // Bounded: the list ends with nil.
            unsafe next = pair + 2
        }
        tags.append(HTMLTag(name: name, attributes: found))
    }

    /// The text; nil when it is longer.
    private static func text(_ start: UnsafePointer<UInt8>, bytesMax: Int) -> String? {
        let count = Int(clamping: unsafe xmlStrlen(start))
        guard (0...bytesMax).contains(count) else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Tags of the requested names; pages have some fifty.
    private static let tagsMax = 4_096
    /// Attributes of a tag that are looked at.
    private static let attributesMax = 32
    private static let nameBytesMax = 64
    /// A longer value is left out: it is no URL.
    private static let valueBytesMax = 8_192
}

/// An operation of libxml2 that failed.
package struct HTMLError: Error, CustomStringConvertible {
    package let operation: String

    init(_ operation: String) {
        self.operation = operation
    }

    package var description: String { "libxml2: \(operation) failed" }
}

/// The library as it was loaded.
package enum HTMLLibrary {
    /// Such as "2.9.14".
    package static var version: String {
        guard let text = unsafe __xmlParserVersion()?.pointee, let number = Int(unsafe String(cString: text).prefix(5))
        else { return "unknown" }
        // Bounded: five digits.
        return "\(number / 10_000).\(number / 100 % 100).\(number % 100)"
    }
}
