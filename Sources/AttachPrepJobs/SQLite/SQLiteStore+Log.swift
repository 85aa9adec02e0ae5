import GRDB
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore {
    public func log(of id: JobID) async throws -> [JobLogLine] {
        try await read { database in
            let rows = try database.rows(
                """
                SELECT job_line.date, job_line.level, job_line.text FROM job
                JOIN job_line ON job_line.job = job.id WHERE job.uuid = ? ORDER BY job_line.id
                """, [id.text])
            return rows.map {
                JobLogLine(job: id, date: Date(milliseconds: $0[0]), level: $0[1], text: $0[2])
            }
        }
    }

    public func append(_ lines: [JobLogLine]) async throws {
        let lines = lines.map { line in
            var line = line
            line.text = String(line.text.prefix(Limits.jobLogCharactersMax))
            return line
        }
        try await write { database, _ in
            for (id, lines) in Dictionary(grouping: lines, by: \.job) {
                let job = try database.number("SELECT id FROM job WHERE uuid = ?", [id.text])
                guard let job else { continue }
                try Self.append(lines.suffix(Limits.jobLogLinesMax), to: job, database)
            }
        }
    }

    private static func append(_ lines: some Sequence<JobLogLine>, to job: Int64, _ database: Database) throws {
        for line in lines {
            try database.run(
                "INSERT INTO job_line (job, date, level, text) VALUES (?, ?, ?, ?)",
                [job, line.date.milliseconds, line.level, line.text])
        }
        try database.run(
            """
            DELETE FROM job_line WHERE job = ?1 AND id <= (SELECT id FROM job_line WHERE job = ?1
                ORDER BY id DESC LIMIT 1 OFFSET \(Limits.jobLogLinesMax))
            """, [job])
    }
}
