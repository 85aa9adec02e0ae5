internal import AttachPrep
internal import Logging

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One line of the log: pure.
struct LogLine {
    let date: Date
    let level: Logger.Level
    let message: String
    let metadata: Logger.Metadata

    /// Ends in a line feed, and holds no other.
    func text(_ format: ServeConfiguration.LogFormat) -> String {
        switch format {
        case .text: plain
        case .json: json
        }
    }

    private var plain: String {
        let values = flattened.map { " \(Self.bare($0.key))=\(Self.quoted($0.value))" }.joined()
        return "\(Timestamp.text(date)) \(level.rawValue) \(Self.safe(message))\(values)\n"
    }

    /// Metadata that is called as one of ours gets an underscore: no line says its time twice.
    private var json: String {
        var fields = [("time", Timestamp.text(date)), ("level", level.rawValue), ("message", message)]
        let own = Set(fields.map(\.0))
        fields += flattened.map { (own.contains($0.key) ? "\($0.key)_" : $0.key, $0.value) }
        return "{\(fields.map { "\(Self.jsonText($0.0)):\(Self.jsonText($0.1))" }.joined(separator: ","))}\n"
    }

    /// By key; what is nested becomes `outer.inner`, lists by number.
    private var flattened: [(key: String, value: String)] {
        metadata.flatMap { Self.flatten($0.key, $0.value) }.sorted { $0.key < $1.key }
    }

    private static func flatten(_ key: String, _ value: Logger.MetadataValue) -> [(key: String, value: String)] {
        switch value {
        case .string(let text): [(key, text)]
        case .stringConvertible(let value): [(key, value.description)]
        case .dictionary(let inner): inner.flatMap { flatten("\(key).\($0.key)", $0.value) }
        case .array(let inner): inner.enumerated().flatMap { flatten("\(key).\($0.offset)", $0.element) }
        }
    }

    // MARK: Text

    /// Control, bidirectional and invisible characters become `\u{…}`: nobody writes a line of another's, or moves a
    /// cursor.
    private static func safe(_ text: String) -> String {
        guard !isPlain(text) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A value with spaces or marks stands in quotes, so that `key=value` can be taken apart again.
    private static func quoted(_ text: String) -> String {
        let safe = safe(text)
        let isBare = !safe.isEmpty && !safe.contains { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" }
        guard !isBare else { return safe }
        return "\"\(safe.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    private static func bare(_ key: String) -> String {
        safe(key).replacing(" ", with: "_").replacing("=", with: "_")
    }

    /// Most texts are, and need no second look: ASCII that is neither control nor mark.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { 0x20..<0x7f ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    // MARK: JSON

    private static func jsonText(_ text: String) -> String {
        guard !isPlain(text) else { return "\"\(text)\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isEscaped(scalar): result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Beside what JSON forbids: what ends a line for some readers, and what a terminal obeys.
    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
