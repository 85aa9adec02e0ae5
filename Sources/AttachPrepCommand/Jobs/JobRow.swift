import AttachPrep
import AttachPrepJobs
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One job as it is shown.
struct JobRow {
    let job: Job

    init(_ job: Job) {
        self.job = job
    }

    /// One line of JSON, as the service answers it.
    func json() throws -> String { try Self.json(job) }

    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// All there is to say of one job, with its log.
    func whole(log: [JobLogLine]) -> String {
        var lines = [("job", job.id.text)]
        if let id = job.request.id { lines.append(("id", id)) }
        lines += [
            ("status", job.state.rawValue), ("source", job.request.source),
            ("attempts", "\(job.attempts)"), ("created", Timestamp.text(job.createdAt)),
        ]
        if let startedAt = job.startedAt { lines.append(("started", Timestamp.text(startedAt))) }
        if let finishedAt = job.finishedAt { lines.append(("finished", Timestamp.text(finishedAt))) }
        if let callback = job.request.terms.callbackURL { lines.append(("callback", callback)) }
        if let result = job.result {
            lines.append(("outcome", result.outcome.rawValue))
            lines += result.reasons.map { ("why", $0) }
            if let file = result.attachment {
                lines.append(("attachment", "\(file.url ?? file.file), \(file.uti), \(file.bytes.grouped) bytes"))
            }
        }
        if let error = job.error { lines.append(("error", "\(error.code.rawValue): \(error.message)")) }
        lines += log.map { ("log", "\(Timestamp.text($0.date)) \($0.level) \($0.text)") }
        let display = StandardStreams.output
        return lines.map { display.paragraph(style($0.0, $0.1)) }.joined(separator: "\n")
    }

    private func style(_ label: String, _ text: String) -> StyledText {
        let isStatus = label == "status"
        let style: TerminalStyle = isStatus ? TerminalStyle(job.state) : label == "error" ? .bad : .plain
        return StyledText(label, .dim).filled(to: 11) + StyledText(text, style)
    }
}
