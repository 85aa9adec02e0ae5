/// Determines the framing of the responses of one transfer from their header lines, before libcurl acts on them.
///
/// libcurl decodes all transfer codings itself without checking limits: 200 kB of `gzip, gzip, chunked` took minutes
/// without a callback. So only `chunked` is accepted.
struct ResponseFraming {
    private var status: Int?
    private var isHTTP2 = false
    private var isHTTP11 = false
    private var informationalResponses = 0
    /// All members of all `Transfer-Encoding` fields, trimmed and in lowercase.
    private var transferCodings: [[UInt8]] = []
    private var lengths: [[UInt8]] = []
    /// The name of the field that a folded line continues.
    private var lastField: [UInt8] = []
    /// Whether the head of the final response is complete; further lines are trailers.
    private(set) var isComplete = false

    private static let transferEncoding = Array("transfer-encoding".utf8)
    private static let contentLength = Array("content-length".utf8)
    private static let chunked = [Array("chunked".utf8)]

    /// Reads one raw header line.
    ///
    /// - Returns: False for an unsupported transfer coding; the transfer must then end.
    mutating func read(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !isComplete else { return true }
        let text = unsafe Self.trimmed(line[...], isLineEnd: true)
        guard status != nil else {
            begin(text)
            return true
        }
        guard let first = text.first else {
            endHead()
            return true
        }
        guard first != 0x20, first != 0x09 else {
            // Folded lines are ambiguous, so they are not accepted in these fields.
            if lastField == Self.contentLength { lengths.append([]) }
            return lastField != Self.transferEncoding
        }
        return readField(text)
    }

    private mutating func begin(_ line: [UInt8]) {
        let words = line.split(separator: 0x20, maxSplits: 2)
        guard words.count >= 2, words[0].starts(with: Array("HTTP/".utf8)), words[1].count == 3 else { return }
        isHTTP2 = words[0].elementsEqual("HTTP/2".utf8)
        isHTTP11 = words[0].elementsEqual("HTTP/1.1".utf8)
        status = Int(String(decoding: words[1], as: UTF8.self))
    }

    private mutating func endHead() {
        guard let status, status < 200 else {
            isComplete = true
            return
        }
        informationalResponses += 1
        (self.status, lengths, lastField) = (nil, [], [])
    }

    private mutating func readField(_ line: [UInt8]) -> Bool {
        guard let colon = line.firstIndex(of: 0x3a) else {
            lastField = []
            return true
        }
        let written = line[..<colon]
        let name = Self.lowercased(Self.trimmed(written, isLineEnd: false))
        lastField = name
        let value = Self.trimmed(line[colon...].dropFirst(), isLineEnd: false)
        if name == Self.contentLength {
            lengths += value.split(separator: 0x2c, omittingEmptySubsequences: false).map {
                Self.trimmed($0, isLineEnd: false)
            }
        }
        guard name == Self.transferEncoding else { return true }
        // RFC 9112, 5.1: no space before the colon. An informational response has no body, so no transfer coding.
        guard written.count == name.count, let status, status >= 200 else { return false }
        transferCodings += value.split(separator: 0x2c, omittingEmptySubsequences: false).map {
            Self.lowercased(Self.trimmed($0, isLineEnd: false))
        }
        return transferCodings == Self.chunked
    }

    /// Whether the connection may be reused: the end of the response is unambiguous, and its body is not empty.
    ///
    /// libcurl does not check for bytes after a response without a body (204, 304, HEAD, length 0). They may arrive
    /// after the next request is sent and would be taken for its response. HTTP/2 frames are assigned to requests by
    /// stream number.
    func allowsReuse(after method: TransferMethod) -> Bool {
        if isHTTP2 { return true }
        guard isComplete, isHTTP11, informationalResponses == 0, let status, status >= 200, method != .head,
            ![204, 205, 304].contains(status)
        else { return false }
        if transferCodings == Self.chunked { return lengths.isEmpty }
        guard let length = lengths.first, lengths.count == 1, transferCodings.isEmpty else { return false }
        return length.allSatisfy { 0x30...0x39 ~= $0 } && length.contains { $0 != 0x30 }
    }

    /// Removes spaces and tabs at both ends; for a line only those at its end, with the line break.
    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>, isLineEnd: Bool) -> [UInt8] {
        var text = bytes.map(\.self)[...]
        while let last = text.last, last == 0x20 || last == 0x09 || (isLineEnd && (last == 0x0d || last == 0x0a)) {
            text.removeLast()
        }
        while !isLineEnd, let first = text.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        return Array(text)
    }

    private static func lowercased(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { 0x41...0x5a ~= $0 ? $0 | 0x20 : $0 }
    }
}
