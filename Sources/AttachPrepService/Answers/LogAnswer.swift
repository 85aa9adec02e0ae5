import AttachPrep
import AttachPrepJobs

/// A job's log lines.
struct LogAnswer: Encodable {
    struct Line: Encodable {
        var date: String
        var level: String
        var text: String
    }

    var lines: [Line]

    init(_ lines: [JobLogLine]) {
        self.lines = lines.map { Line(date: Timestamp.text($0.date), level: $0.level, text: $0.text) }
    }
}
