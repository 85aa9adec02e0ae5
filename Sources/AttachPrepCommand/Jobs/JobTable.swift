import AttachPrep
import AttachPrepJobs
import RichPush

/// Jobs below each other, a line each. Pure.
enum JobTable {
    static func table(_ jobs: [Job]) -> TextTable {
        let isNamed = jobs.contains { $0.request.id != nil }
        return TextTable(
            columns: [
                TextTable.Column(title: "job", isAddress: true), TextTable.Column(title: "status", width: 9),
                TextTable.Column(title: "tries", isNumber: true, width: 3), TextTable.Column(title: "created"),
                TextTable.Column(title: "result", width: 9), TextTable.Column(title: "id"),
                TextTable.Column(title: "source", isAddress: true),
            ],
            rows: jobs.map(row),
            concessions: isNamed ? concessionsWithIDs : [.leaveOut("id")] + concessions, hasHeadInFiles: true)
    }

    /// A job is for copying: it stays whole as long as a state has room beside it.
    private static let concessions: [TextTable.Concession] = [
        .narrow("source", to: 20), .leaveOut("tries"), .leaveOut("created"), .narrow("source", to: 12),
        .narrow("result", to: 12), .leaveOut("result"), .narrow("job", to: 13), .narrow("source", to: 1),
    ]

    /// The caller knows a job by its own id: the source goes first.
    private static let concessionsWithIDs: [TextTable.Concession] = [
        .narrow("source", to: 20), .leaveOut("tries"), .leaveOut("created"), .narrow("source", to: 12),
        .narrow("id", to: 20), .leaveOut("source"), .narrow("result", to: 12), .narrow("id", to: 12),
        .leaveOut("result"), .narrow("job", to: 13), .narrow("id", to: 1),
    ]

    private static func row(_ job: Job) -> [StyledText] {
        let failure = job.error.map { StyledText($0.code.rawValue, .bad) }
        let outcome = job.result.map { StyledText($0.outcome.rawValue, TerminalStyle($0.outcome)) }
        return [
            StyledText(job.id.text), StyledText(job.state.rawValue, TerminalStyle(job.state)),
            StyledText("\(job.attempts)"), StyledText(Timestamp.text(job.createdAt), .dim),
            failure ?? outcome ?? StyledText(), StyledText(job.request.id ?? ""), StyledText(job.request.source),
        ]
    }
}
