import Foundation
import FuzzSupport
import NATS

@testable import AttachPrepJobs
@testable import JetStreamQueue

/// Fuzzes queue server lists, nkeys, and responses and stored messages of servers.
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
        Invariant.hold(!shown.contains("@"), "credentials are not shown: \(shown)")
        let again = try? QueueServers(shown)
        Invariant.hold(again?.description == shown, "a printed list parses to itself: \(shown)")
        Invariant.hold(again?.containsCredentials == false, "a printed list has no credentials")
        Invariant.hold((again?.settings.tls == nil) == (servers.settings.tls == nil), "TLS is unchanged")
    }

    private struct Answer: Decodable {
        var seq: UInt64?
    }

    /// The sequence number read without a JSON parser must be the one a parser reads.
    private static func checkAnswer(_ bytes: [UInt8]) {
        guard let number = PublishAck.sequence(in: bytes) else { return }
        // A stream name with invalid UTF-8 or control characters is not JSON; no server has such a stream.
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(bytes)) else { return }
        Invariant.hold(answer.seq == number, "both readers give the same number")
    }

    private static func checkJob(_ bytes: [UInt8]) {
        guard let job = try? StoredJob(bytes), let written = try? job.bytes() else { return }
        Invariant.hold((try? StoredJob(written)) == job, "a job that is written reads the same")
        _ = try? job.job()
        _ = try? job.claimed()
    }
}
