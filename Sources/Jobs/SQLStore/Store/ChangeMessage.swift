import AttachPrepJobs
import MediaTypes

/// Changes of jobs as a message to other processes: the sender's slot, then for each job a letter for its state and its
/// id, separated by spaces.
enum ChangeMessage {
    /// PostgreSQL's payloads are shorter than 8,000 bytes; an entry takes 38.
    private static let countMax = 200
    private static let letters: [(state: JobState, letter: UInt8)] = [
        (.queued, UInt8(ascii: "q")), (.running, UInt8(ascii: "r")), (.succeeded, UInt8(ascii: "s")),
        (.failed, UInt8(ascii: "f")), (.dead, UInt8(ascii: "d")), (.cancelled, UInt8(ascii: "c")),
    ]

    static func all(_ changes: [JobFeed.Change], from slot: Int64) -> [String] {
        stride(from: 0, to: changes.count, by: countMax).map { start in
            let entries = changes.dropFirst(start).prefix(countMax).map { change in
                let letter = letters.first { $0.state == change.state }?.letter ?? UInt8(ascii: "q")
                return "\(Character(UnicodeScalar(letter)))\(change.job)"
            }
            return "\(slot) \(entries.joined(separator: " "))"
        }
    }

    /// - Returns: The changes; empty for a message of one of `slots`. Entries that cannot be read are skipped.
    static func changes(in message: String, except slots: Set<Int64>) -> [JobFeed.Change] {
        let parts = message.utf8.split(separator: UInt8(ascii: " "))
        guard let first = parts.first, let sender = Int64(String(decoding: first, as: UTF8.self)),
            !slots.contains(sender)
        else { return [] }
        return parts.dropFirst().compactMap { part in
            guard let state = letters.first(where: { $0.letter == part.first })?.state,
                let job = JobID(String(decoding: part.dropFirst(), as: UTF8.self))
            else { return nil }
            return JobFeed.Change(job: job, state: state)
        }
    }
}
