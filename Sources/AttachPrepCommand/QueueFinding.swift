import AttachPrep
import AttachPrepJobs
import Logging
import RichPush

/// Whether jobs can be kept where they are meant to be.
struct QueueFinding: Codable, Sendable {
    /// What was seen; nil when the servers could not be asked.
    let examination: QueueExamination?
    /// What is wrong, each with its remedy.
    let faults: [String]

    /// Asks the servers, and changes nothing there.
    init(asking servers: QueueServers, _ logger: Logger) async {
        do {
            let examination = try await QueueExamination(of: servers)
            (self.examination, faults) = (examination, examination.faults)
        } catch {
            logger.debug("the queue", metadata: ["error": "\(error)"])
            (examination, faults) = (nil, [(error as? AttachPrepError)?.message ?? "\(error)"])
        }
    }

    /// As a person reads it.
    var lines: [StyledText] {
        let head = StyledText.answer(examination != nil) + "  keep jobs on the NATS servers"
        guard let examination else { return [head] }
        let time = StyledText(", \(examination.roundTripMilliseconds) ms for an answer", .dim)
        return [head + time] + examination.parts.map { StyledText(Self.line($0)) }
    }

    private static func line(_ part: QueueExamination.Part) -> String {
        let name = "     \(TerminalText.column(part.name, 26))"
        guard let messages = part.messages, let bytes = part.bytes, let replicas = part.replicas else {
            return "\(name) is made by the first process that starts"
        }
        let place = part.leader.map { ", led by \($0)" } ?? ""
        return "\(name) \(messages) messages, \(bytes) bytes, \(replicas) \(replicas == 1 ? "copy" : "copies")\(place)"
    }
}
