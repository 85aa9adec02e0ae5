import ArgumentParser
import AttachPrep
import Glibc
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
        let handle = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { throw ValidationError("The list \(path) cannot be opened; check its name.") }
        defer { if handle != STDIN_FILENO { close(handle) } }
        guard let bytes = readAll(handle) else {
            throw ValidationError("The list \(path) cannot be read; give a file of sources or JSON Lines.")
        }
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

    private static func readAll(_ descriptor: CInt) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return bytes }
            bytes += chunk.prefix(count)
        }
    }
}
