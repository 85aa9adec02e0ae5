import Foundation
import FuzzSupport
import NATS

@testable import AttachPrepJobs

/// Servers as an operator names them, and what they keep and answer.
@main enum QueueFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            switch input.byte() % 4 {
            case 0: checkServers(input.text())
            case 1: _ = try? NKeySeed(input.text())
            case 2: checkAnswer(input.rest())
            default: checkJob(input.rest())
            }
        }
    }

    private static func checkServers(_ text: String) {
        guard let servers = try? QueueServers(text) else { return }
        let shown = servers.description
        Invariant.hold(!shown.contains("@"), "who we are is not shown: \(shown)")
        let again = try? QueueServers(shown)
        Invariant.hold(again?.description == shown, "servers that are shown are servers: \(shown)")
        Invariant.hold(again?.namesIdentity == false, "and name nobody")
        Invariant.hold((again?.settings.tls == nil) == (servers.settings.tls == nil), "and are as secret")
    }

    private struct Answer: Decodable {
        var seq: UInt64?
    }

    /// What is read without a parser is what a parser reads.
    private static func checkAnswer(_ bytes: [UInt8]) {
        guard let number = PublishAnswer.number(in: bytes) else { return }
        // A name that is no UTF-8, or has a control in it, is no JSON; no server has such a stream.
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(bytes)) else { return }
        Invariant.hold(answer.seq == number, "a number is the one that is there")
    }

    private static func checkJob(_ bytes: [UInt8]) {
        guard let job = try? KeptJob(bytes), let written = try? job.bytes() else { return }
        Invariant.hold((try? KeptJob(written)) == job, "a job that is written reads the same")
        _ = try? job.job()
        _ = try? job.claimed()
    }
}
