import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A line of a batch list and its number, from 1.
struct BatchLine: Sendable, Hashable {
    let number: Int
    let text: String

    /// The request the line means: pure.
    ///
    /// - Throws: `request.too_large`, `request.invalid`, or what a wrong option is.
    func request(defaults: AttachmentRequest) throws -> AttachmentRequest {
        guard text.utf8.count <= Limits.requestBytesMax else {
            throw AttachPrepError(
                .requestTooLarge, "Line \(number) of the list is over \(Limits.requestBytesMax) bytes.")
        }
        guard text.hasPrefix("{") else {
            var request = defaults
            request.source = text
            return request
        }
        do {
            return try AttachmentRequest(json: Array(text.utf8), defaults: defaults)
        } catch let error as AttachPrepError {
            throw AttachPrepError(error.code, "Line \(number) of the list: \(error.message)", detail: error.detail)
        }
    }

    /// What to call the line when it cannot be read.
    var source: String { text.hasPrefix("{") ? "line \(number)" : text }
}

/// A list of requests: sources, JSON Lines, or both.
enum BatchList {
    /// Reads a file, or standard input for `-`.
    ///
    /// - Throws: `ValidationError` when the file cannot be read.
    static func read(_ path: String) throws -> [BatchLine] {
        let bytes = try InputFile(path: path, name: "list", remedy: "a file of sources or JSON Lines").bytes()
        return lines(String(decoding: bytes, as: UTF8.self))
    }

    /// The lines that mean something: pure.
    static func lines(_ text: String) -> [BatchLine] {
        let withoutMark = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
        return withoutMark.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
            .map { BatchLine(number: $0.offset + 1, text: trimmed($0.element)) }
            .filter { !$0.text.isEmpty && !$0.text.hasPrefix("#") }
    }

    private static func trimmed(_ line: Substring) -> String {
        var line = line
        while line.first?.isWhitespace == true { line.removeFirst() }
        while line.last?.isWhitespace == true { line.removeLast() }
        return String(line)
    }
}
