/// How the answers of one transfer are framed, read off their header lines before libcurl acts on them.
///
/// libcurl takes off every transfer coding by itself, several at once, and looks at no limit while it does: 200 kB of
/// `gzip, gzip, chunked` unpacked for minutes without a call back. So only `chunked` may come.
struct AnswerFraming {
    private var status: Int?
    private var isHTTP2 = false
    private var isHTTP11 = false
    private var interimAnswers = 0
    /// Every member of every `Transfer-Encoding`, trimmed and in lower case.
    private var transferCodings: [[UInt8]] = []
    private var lengths: [[UInt8]] = []
    /// The name of the field that a folded line would go on with.
    private var lastField: [UInt8] = []
    /// Whether the final answer's head is over: what comes then are trailers.
    private(set) var isComplete = false

    private static let transferEncoding = Array("transfer-encoding".utf8)
    private static let contentLength = Array("content-length".utf8)
    private static let chunked = [Array("chunked".utf8)]

    /// Takes one line as it came.
    ///
    /// - Returns: false for a transfer coding that is not taken: the transfer must end here.
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
            // A folded line is read in two ways: nobody honest folds these.
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
        // Bounded: three digits, into an optional.
        status = Int(String(decoding: words[1], as: UTF8.self))
    }

    private mutating func endHead() {
        guard let status, status < 200 else {
            isComplete = true
            return
        }
        interimAnswers += 1
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
            // Bounded: lists.
            lengths += value.split(separator: 0x2c, omittingEmptySubsequences: false).map {
                Self.trimmed($0, isLineEnd: false)
            }
        }
        guard name == Self.transferEncoding else { return true }
        // RFC 9112, 5.1: no space before the colon. And an interim answer has no body whose coding it could be.
        guard written.count == name.count, let status, status >= 200 else { return false }
        // Bounded: lists.
        transferCodings += value.split(separator: 0x2c, omittingEmptySubsequences: false).map {
            Self.lowercased(Self.trimmed($0, isLineEnd: false))
        }
        return transferCodings == Self.chunked
    }

    /// Whether the connection may carry another request: the answer's end is beyond doubt, and its body was not empty.
    ///
    /// Bytes behind an answer without a body (204, 304, HEAD, a length of 0) are not looked at by libcurl, and may be
    /// under way when the next request goes out: they would be taken for the answer to it. HTTP/2 frames belong to
    /// requests by number.
    func allowsReuse(after method: TransferMethod) -> Bool {
        if isHTTP2 { return true }
        guard isComplete, isHTTP11, interimAnswers == 0, let status, status >= 200, method != .head,
            ![204, 205, 304].contains(status)
        else { return false }
        if transferCodings == Self.chunked { return lengths.isEmpty }
        guard let length = lengths.first, lengths.count == 1, transferCodings.isEmpty else { return false }
        return length.allSatisfy { 0x30...0x39 ~= $0 } && length.contains { $0 != 0x30 }
    }

    /// Without spaces and tabs around it; of a line only those at its end go, with its line break.
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
