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
            (examination, faults) = (nil, [Self.sentence(error)])
        }
    }

    /// With the servers' own reason: there is no log here to look at.
    private static func sentence(_ error: any Error) -> String {
        guard let known = error as? AttachPrepError else { return "\(error)" }
        let message = known.message.replacing("; see the log", with: "")
        return known.detail.map { "\(message) [\($0)]" } ?? message
    }

    /// As a person reads it.
    var lines: [StyledText] {
        let head = StyledText.answer(examination?.isUsable ?? false) + "  keep jobs on the NATS servers"
        guard let examination else { return [head] }
        let time = StyledText(", \(examination.roundTripMilliseconds) ms for an answer", .dim)
        return [head + time] + examination.servers.map { StyledText(Self.line($0)) }
            + examination.parts.map { StyledText(Self.line($0)) }
    }

    private static func line(_ server: QueueExamination.Server) -> String {
        let name = "     \(TerminalText.column(server.address, 26))"
        return server.version.map { "\(name) nats-server \($0)" } ?? "\(name) cannot be reached from here"
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
