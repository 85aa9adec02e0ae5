/// Puts an answer's head together from its lines.
///
/// Informational answers before it and trailers after it are only counted.
struct HeadCollector: Sendable {
    /// Header bytes so far, everything included.
    private(set) var bytes = 0
    /// Header lines so far, likewise.
    private(set) var lines = 0
    private var incoming: ResponseHead?
    private var isComplete = false

    /// Takes one line as it came.
    ///
    /// - Returns: the final answer's head when this was the empty line behind it.
    mutating func collect(_ line: UnsafeRawBufferPointer) -> ResponseHead? {
        // Bounded: the transfer ends at `Limits.headerBytesMax`.
        bytes += line.count
        lines += 1
        guard !isComplete else { return nil }
        let text = unsafe Self.text(line)
        guard var head = incoming else {
            incoming = ResponseHead(statusLine: text)
            return nil
        }
        guard text.isEmpty else {
            // A status line among the fields is none: libcurl takes it for a field too.
            head.add(line: text)
            incoming = head
            return nil
        }
        incoming = nil
        guard head.status >= 200 else { return nil }
        isComplete = true
        return head
    }

    /// Without the line's end; by bytes, since a carriage return and a line feed are one character.
    private static func text(_ line: UnsafeRawBufferPointer) -> String {
        var bytes = unsafe line[...]
        while let last = unsafe bytes.last, [0x0d, 0x0a, 0x20, 0x09].contains(last) { unsafe bytes.removeLast() }
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}
