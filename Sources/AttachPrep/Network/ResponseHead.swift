internal import FoundationEssentials
internal import SafeArithmetic

/// The status and header fields of one HTTP response.
package struct ResponseHead: Sendable, Hashable {
    package let status: Int
    /// The fields in order, with names in lowercase and values trimmed.
    package private(set) var fields: [(name: String, value: String)] = []

    package init(status: Int, _ fields: [(name: String, value: String)] = []) {
        self.status = status
        self.fields = fields
    }

    /// Parses a status line such as "HTTP/1.1 200 OK"; nil for anything else.
    init?(statusLine: String) {
        let words = statusLine.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]), 100...999 ~= status else {
            return nil
        }
        self.status = status
    }

    /// Parses and adds "Name: value"; a line without a colon is ignored.
    ///
    /// A line that starts with whitespace continues the previous one (RFC 9112, 5.2).
    mutating func add(line: String) {
        if line.first?.isWhitespace == true, let last = fields.indices.last {
            let rest = String(line.drop(while: \.isWhitespace))
            // Bounded: string concatenation.
            fields[last].value += fields[last].value.isEmpty ? rest : " " + rest
            return
        }
        guard let colon = line.firstIndex(of: ":") else { return }
        let value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
        fields.append((line[..<colon].lowercased(), String(value)))
    }

    /// The first value of a field; `name` in lowercase.
    package subscript(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// All values of a field; `name` in lowercase.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    package static func == (left: ResponseHead, right: ResponseHead) -> Bool {
        left.status == right.status && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        for field in fields { hasher.combine(field.name) }
    }
}

/// The header fields that describe the body.
extension ResponseHead {
    /// Whether the body has a content coding other than `identity`.
    package var isEncoded: Bool {
        values("content-encoding").contains { !$0.isEmpty && $0.lowercased() != "identity" }
    }

    /// Declared bytes of the body as sent; nil if none are declared, `Int.max` if the number exceeds 64 bits.
    package var contentLength: Int? {
        // RFC 9112, 6.3: Transfer-Encoding overrides Content-Length.
        guard self["transfer-encoding"] == nil, let text = lengths.first, Self.isNumber(text) else { return nil }
        return Int(text) ?? .max
    }

    /// The name of a field with contradictory values, which a proxy may interpret differently; nil if there is none.
    ///
    /// Rejecting such responses prevents response splitting and redirects to a URL that was not checked.
    package var ambiguousField: String? {
        if !lengths.allSatisfy(Self.isNumber) || Set(lengths).count > 1 { return "Content-Length" }
        if Set(values("location")).count > 1 { return "Location" }
        if Set(values("content-range")).count > 1 { return "Content-Range" }
        return nil
    }

    /// The media type of `Content-Type` in lowercase without parameters; nil when missing or invalid.
    package var mimeType: String? {
        guard let text = self["content-type"]?.prefix(while: { $0 != ";" && $0 != "," }) else { return nil }
        let type = text.filter { !$0.isWhitespace }.lowercased()
        // It is shown to users and programs; RFC 6838, 4.2 permits 127 restricted characters for each half.
        let halves = type.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, halves.allSatisfy({ 1...127 ~= $0.utf8.count && $0.utf8.allSatisfy(Self.isName) })
        else { return nil }
        return type
    }

    /// The `charset` parameter of `Content-Type` in lowercase; nil when missing or invalid.
    package var charset: String? {
        guard let parameters = self["content-type"]?.lowercased().split(separator: ";").dropFirst() else { return nil }
        for parameter in parameters {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
            guard parts.count == 2, parts[0] == "charset" else { continue }
            let name = parts[1].filter { $0 != "\"" && $0 != "'" }
            return 1...40 ~= name.utf8.count && name.utf8.allSatisfy(Self.isName) ? name : nil
        }
        return nil
    }

    /// The parsed `Content-Range`; nil when missing or invalid.
    package var contentRange: ContentRange? { self["content-range"].flatMap { ContentRange($0) } }

    /// Whether the declared length, if any, matches the range.
    var isWholeRange: Bool {
        guard let range = contentRange, let length = contentLength else { return true }
        return range.length == length
    }

    /// All declared lengths; "5, 5" counts as two (RFC 9110, 8.6).
    private var lengths: [String] {
        values("content-length").flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { $0.filter { !$0.isWhitespace } }
    }

    /// Digits only: "+5" and "-5" are invalid.
    private static func isNumber(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
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
    private var incoming: ResponseHead?
    private var isComplete = false

    /// Parses one raw line.
    ///
    /// - Returns: The head of the final response when this is the empty line that ends it; otherwise nil.
    mutating func parse(_ line: UnsafeRawBufferPointer) -> ResponseHead? {
        // Bounded: the transfer ends at `Limits.headerBytesMax`.
        bytes += line.count
        lines += 1
        if line.count > longestBytes, let name = unsafe Self.name(line) {
            (longestName, longestBytes) = (name, line.count)
        }
        guard !isComplete else { return nil }
        let text = unsafe Self.text(line)
        guard var head = incoming else {
            incoming = ResponseHead(statusLine: text)
            return nil
        }
        guard text.isEmpty else {
            // A status line between the fields is treated as a field, as libcurl does.
            head.add(line: text)
            incoming = head
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

    /// The line without trailing whitespace; trimmed by bytes because Swift treats CR LF as one character.
    private static func text(_ line: UnsafeRawBufferPointer) -> String {
        var bytes = unsafe line[...]
        while let last = unsafe bytes.last, [0x0d, 0x0a, 0x20, 0x09].contains(last) { unsafe bytes.removeLast() }
        return unsafe String(decoding: bytes, as: UTF8.self)
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
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int(ends[0]), let last = Int(ends[1]), 0 <= first, first <= last,
            let end = last.adding(exactly: 1)
        else { return nil }
        // Bounded: text, parsed into an optional.
        total = Int(parts[1])
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

    /// Parses a date; nil for any other text.
    static func date(_ text: String) -> Date? {
        // "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"
        let words = text.split { " ,-".contains($0) }.map(String.init)
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
        return Date(timeIntervalSince1970: Double(days(to: day, month + 1, year) * 86_400 + seconds))
    }

    private static func number(_ text: String, digits: Int) -> Int? {
        guard 1...digits ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        // Bounded: at most four digits, parsed into an optional.
        return Int(text)
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar.
    private static func days(to day: Int, _ month: Int, _ year: Int) -> Int {
        // Years are counted from March, so that the leap day is the last day.
        // Bounded: four digits.
        let year = month > 2 ? year : year - 1
        // Bounded: a month and a day.
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        // Bounded: four digits.
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
