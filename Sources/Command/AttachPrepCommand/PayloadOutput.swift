import AttachPrep
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import PushPayload
import RichPush

/// What is printed for one input: the result on standard output, notes on standard error.
struct PayloadOutput: CommandResult {
    /// JSON, printed as it is.
    var json: String?
    /// Whether `json` is the payload to send, whose bytes are counted: no line end is added to it.
    var isPayload = false
    var lines: [StyledText] = []
    /// Code and sentence of each warning or error.
    var notes: [String] = []
    /// The number of the line in JSON Lines; nil for another input.
    var line: Int?
    /// Whether the media cannot be shown.
    var isFailure: Bool

    func ofLine(_ number: Int) -> PayloadOutput {
        var output = self
        output.line = number
        return output
    }

    func show() {
        let prefix = line.map { "line \($0): " } ?? ""
        for note in notes { StandardStreams.printNote("attachprep: \(prefix)\(note.escapingControls)") }
        if let json { StandardStreams.payload(json, isLine: !isPayload || line != nil) }
        if !lines.isEmpty { StandardStreams.result(lines) }
    }
}

/// Formats the results of `payload` as text or JSON.
struct PayloadOutputFormatter: Sendable {
    let format: OutputFormat
    /// Warnings that are not reported.
    let silenced: Set<PayloadWarning.Code>

    /// The report of `--check`; in text for a line of JSON Lines, after its number.
    func checked(_ input: PayloadInput, line: Int? = nil) throws -> PayloadOutput {
        let reports = input.messages.compactMap { message in
            message.rewriter.map { PayloadReport($0, silenced: silenced, index: message.index) }
        }
        let isFailure = !reports.allSatisfy(\.isShown)
        switch format {
        case .json:
            let json = try reports.map { try $0.json() }
            let text = input.isArray ? "[\(json.joined(separator: ","))]" : json.joined()
            return PayloadOutput(json: text, isFailure: isFailure)
        case .text:
            let head = line.map { [PayloadReport.row("line", text: "\($0)")] } ?? []
            return PayloadOutput(lines: head + reports.flatMap(\.lines), isFailure: isFailure)
        }
    }

    /// The payload to send, or with `--format json` the payload with manifests and warnings.
    func rewritten(_ result: PayloadResult) throws -> PayloadOutput {
        var result = result
        result.warnings.removeAll { silenced.contains($0.code) }
        // Does not repeat the line feed at the end of a file.
        let bytes = format == .json ? try result.json() : result.payload
        let text = String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
        return PayloadOutput(
            json: text, isPayload: format == .text, notes: result.warnings.map { "\($0.code.rawValue): \($0.message)" },
            isFailure: !result.isComplete)
    }

    /// An input that failed. A line of JSON Lines still has one line of output, so that lines correspond.
    func failed(_ error: AttachPrepError, line: Int?) -> PayloadOutput {
        let note = "\(error.code.rawValue): \(Self.message(error))"
        var output = PayloadOutput(notes: [note], line: line, isFailure: true)
        if line != nil { output.json = format == .json ? Self.json(error) : "null" }
        return output
    }

    /// A line of JSON Lines that `--check` cannot read.
    func unchecked(_ error: AttachPrepError, line: Int) -> PayloadOutput {
        guard format == .text else { return failed(error, line: line) }
        let rows = [("line", "\(line)"), ("error", "\(error.code.rawValue): \(Self.message(error))")]
        return PayloadOutput(lines: rows.map { PayloadReport.row($0.0, text: $0.1) }, isFailure: true)
    }

    /// The message of an error, with the option of this command in place of the setting.
    private static func message(_ error: AttachPrepError) -> String {
        guard let remedy = error.remedy else { return error.message }
        return switch remedy.setting {
        case .mediaKey: remedy.message("Use --media-key ")
        case .targets: remedy.message("Use --for ios,")
        }
    }

    private static func json(_ error: AttachPrepError) -> String {
        (try? String(decoding: PayloadFailure(error).json(), as: UTF8.self)) ?? "null"
    }
}
