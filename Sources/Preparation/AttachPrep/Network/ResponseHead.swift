internal import FoundationEssentials
package import SafeArithmetic

/// The status and header fields of one HTTP response.
package struct ResponseHead: Sendable, Hashable {
    package struct Field: Sendable, Hashable {
        /// In lowercase.
        package let name: ForeignText
        /// Trimmed.
        package fileprivate(set) var value: ForeignText
    }

    package let status: Int
    /// The fields in order.
    package private(set) var fields: [Field] = []

    package init(status: Int, _ fields: [(name: String, value: String)] = []) {
        self.status = status
        self.fields = fields.map { Field(name: ForeignText($0.name), value: ForeignText($0.value)) }
    }

    /// Parses a status line such as "HTTP/1.1 200 OK"; nil for anything else.
    init?(statusLine: ForeignText) {
        let words = statusLine.split(at: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = words[1].number, 100...999 ~= status else {
            return nil
        }
        self.status = status
    }

    /// Parses and adds "Name: value"; a line without a colon is ignored.
    ///
    /// A line that starts with whitespace continues the previous one (RFC 9112, 5.2).
    mutating func add(line: ForeignText) {
        if let first = line.utf8.first, first == 0x20 || first == 0x09, let last = fields.indices.last {
            let (begin, rest) = (fields[last].value, line.trimmed)
            fields[last].value = begin.isEmpty ? rest : ForeignText(begin.string + " " + rest.string)
            return
        }
        let parts = line.split(at: UInt8(ascii: ":"), maxSplits: 1)
        guard parts.count == 2 else { return }
        fields.append(Field(name: parts[0].lowercased, value: parts[1].trimmed))
    }

    /// The first value of a field; `name` in lowercase.
    package subscript(_ name: ForeignText) -> ForeignText? {
        fields.first { $0.name == name }?.value
    }

    /// All values of a field; `name` in lowercase.
    func values(_ name: ForeignText) -> [ForeignText] { fields.filter { $0.name == name }.map(\.value) }
}

/// The header fields that describe the body.
extension ResponseHead {
    /// The content codings in lowercase and in order, without those that change no byte: `identity`, and
    /// `aws-chunked`, which S3 stores with an object although the chunks were removed when it was uploaded.
    var contentCodings: [ForeignText] {
        values("content-encoding").flatMap { $0.split(at: UInt8(ascii: ",")) }.map(\.withoutBlanks.lowercased)
            .filter { !$0.isEmpty && $0 != "identity" && $0 != "aws-chunked" }
    }

    /// Whether the body has a content coding that changes its bytes.
    package var isEncoded: Bool { !contentCodings.isEmpty }

    /// Declared bytes of the body as sent; nil if none are declared, `Int.max` if the number exceeds 64 bits.
    package var contentLength: Int? {
        // RFC 9112, 6.3: Transfer-Encoding overrides Content-Length.
        guard self["transfer-encoding"] == nil else { return nil }
        return lengths.first?.number
    }

    /// The name of a field with contradictory values, which a proxy may interpret differently; nil if there is none.
    ///
    /// Rejecting such responses prevents response splitting and redirects to a URL that was not checked.
    package var ambiguousField: String? {
        if lengths.contains(where: { $0.number == nil }) || Set(lengths).count > 1 { return "Content-Length" }
        if Set(values("location")).count > 1 { return "Location" }
        if Set(values("content-range")).count > 1 { return "Content-Range" }
        return nil
    }

    /// The media type of `Content-Type` in lowercase without parameters; nil when missing or invalid.
    package var mimeType: String? {
        guard let field = self["content-type"] else { return nil }
        let written = field.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        let type = ForeignText(Substring(written)).withoutBlanks.lowercased
        // It is shown to users and programs; RFC 6838, 4.2 permits 127 restricted characters for each half.
        let halves = type.split(at: UInt8(ascii: "/"))
        guard halves.count == 2, halves.allSatisfy({ 1...127 ~= $0.utf8.count && $0.utf8.allSatisfy(Self.isName) })
        else { return nil }
        return type.string
    }

    /// The parsed `Content-Range`; nil when missing or invalid.
    package var contentRange: ContentRange? { self["content-range"].flatMap { ContentRange($0) } }

    /// Whether the declared length, if any, matches the range.
    var isWholeRange: Bool {
        guard let range = contentRange, let length = contentLength else { return true }
        return range.length == length
    }

    /// All declared lengths; "5, 5" counts as two (RFC 9110, 8.6). Digits only: "+5" and "-5" are invalid.
    private var lengths: [ForeignText] {
        values("content-length").flatMap { $0.split(at: UInt8(ascii: ",")) }.map(\.trimmed)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$&-^_.+*".utf8.contains(byte)
        }
    }
}

/// Assembles the head of the final response from its header lines.
///
/// Informational responses before it and trailers after it are only counted.
struct ResponseHeadParser: Sendable {
    /// Header bytes so far, including informational responses and trailers.
    private(set) var bytes = 0
    /// Header lines so far, including informational responses and trailers.
    private(set) var lines = 0
    /// The name of the header with the longest line so far, for messages; nil without a usable one.
    private(set) var longestName: String?
    private var longestBytes = 0
    /// The name of the last header so far, for messages; nil without a usable one.
    private(set) var lastName: String?
    private var incoming: ResponseHead?
    private var isComplete = false

    /// Parses one raw line.
    ///
    /// - Returns: The head of the final response when this is the empty line that ends it; otherwise nil.
    mutating func parse(_ line: UnsafeRawBufferPointer) -> ResponseHead? {
        // Bounded: the transfer ends at `Limits.headerBytesMax`.
        bytes += line.count
        lines += 1
        let name = unsafe Self.name(line)
        if let name, line.count > longestBytes { (longestName, longestBytes) = (name, line.count) }
        lastName = name ?? lastName
        guard !isComplete else { return nil }
        let text = unsafe Self.text(line)
        guard incoming != nil else {
            incoming = ResponseHead(statusLine: text)
            return nil
        }
        guard text.isEmpty, let head = incoming else {
            // A status line between the fields is treated as a field, as libcurl does.
            incoming?.add(line: text)
            return nil
        }
        incoming = nil
        guard head.status >= 200 else { return nil }
        isComplete = true
        return head
    }

    /// The name in a header line, if it is a short one of letters, digits, `-` and `_`.
    private static func name(_ line: UnsafeRawBufferPointer) -> String? {
        let name = unsafe line.prefix(nameBytesMax).prefix { $0 != UInt8(ascii: ":") }
        let isUsual = unsafe name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        guard isUsual, unsafe 1..<nameBytesMax ~= name.count else { return nil }
        return unsafe String(decoding: name, as: UTF8.self)
    }

    private static let nameBytesMax = 64

    /// The line without trailing whitespace. Of a `Location` that is not UTF-8, each byte beyond ASCII is
    /// percent-encoded: the server expects those bytes.
    private static func text(_ line: UnsafeRawBufferPointer) -> ForeignText {
        var bytes = unsafe line[...]
        while let last = unsafe bytes.last, [0x0d, 0x0a, 0x20, 0x09].contains(last) { unsafe bytes.removeLast() }
        guard unsafe name(line)?.lowercased() == "location",
            unsafe String(validating: bytes, as: UTF8.self) == nil
        else { return unsafe ForeignText(bytes) }
        return unsafe ForeignText(
            bytes.flatMap { byte in
                byte < 0x80 ? [byte] : Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
            })
    }
}

/// A parsed `Content-Range` header.
package struct ContentRange: Sendable, Hashable {
    /// The offset of the first byte sent, from 0.
    package let first: Int
    /// The offset of the last byte sent.
    package let last: Int
    /// The offset after the last byte sent.
    package let end: Int
    /// Bytes of the whole; nil when the server declares it unknown ("*").
    package let total: Int?

    /// Bytes in the range.
    package var length: Int { end.subtracting(clamping: first) }

    /// Parses "bytes 100-199/1000"; nil for anything else, including several ranges and a last byte of `Int.max`.
    package init?(_ text: ForeignText) {
        let words = text.split(at: UInt8(ascii: " ")).filter { !$0.isEmpty }
        guard words.count == 2, words[0].lowercased == "bytes" else { return nil }
        let parts = words[1].split(at: UInt8(ascii: "/"))
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(at: UInt8(ascii: "-"))
        guard ends.count == 2, let first = ends[0].number, let last = ends[1].number, first <= last,
            let end = last.adding(exactly: 1)
        else { return nil }
        total = parts[1].number
        guard parts[1] == "*" || total.map({ last < $0 }) == true else { return nil }
        self.first = first
        self.last = last
        self.end = end
    }
}

/// Parses the three date formats of HTTP header fields (RFC 9110, 5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// RFC 850 dates have two-digit years: values below this are in the 2000s, the others in the 1900s.
    private static let twoDigitYearPivot = 70

    /// The longest of the three forms has 33 bytes.
    private static let bytesMax = 64

    /// Parses a date; nil for any other text.
    static func date(_ text: ForeignText) -> Date? {
        guard text.utf8.count <= bytesMax, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        // "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"
        let words = text.string.split { " ,-".contains($0) }.map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT": return date(day: words[1], month: words[2], year: words[3], time: words[4])
        case 5: return date(day: words[2], month: words[1], year: words[4], time: words[3])
        default: return nil
        }
    }

    private static func date(day: String, month: String, year: String, time: String) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), digits: 2) }
        guard let day = number(day, digits: 2), 1...31 ~= day, let month = months.firstIndex(of: month),
            let written = number(year, digits: 4), clock.count == 3, let hour = clock[0], hour < 24,
            let minute = clock[1], minute < 60, let second = clock[2], second <= 60
        else { return nil }
        // Bounded: four digits.
        let year = year.utf8.count > 2 ? written : written + (written < twoDigitYearPivot ? 2000 : 1900)
        // Bounded: two digits each.
        let seconds = hour * 3600 + minute * 60 + second
        // Bounded: the year has at most four digits.
        return Date(timeIntervalSince1970: Double(days(to: day, month: month + 1, year: year) * 86_400 + seconds))
    }

    private static func number(_ text: String, digits: Int) -> Int? {
        guard 1...digits ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        // Bounded: at most four digits, parsed into an optional.
        return Int(text)
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar.
    private static func days(to day: Int, month: Int, year: Int) -> Int {
        // Years are counted from March, so that the leap day is the last day.
        // Bounded: four digits.
        let year = month > 2 ? year : year - 1
        // Bounded: a month and a day.
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        // Bounded: four digits.
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
