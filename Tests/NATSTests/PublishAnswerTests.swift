import NATS
import TestSupport
import Testing

@Suite struct PublishAnswerTests {
    @Test(arguments: [
        (#"{"stream":"KV_jobs", "seq":1}"#, 1), (#"{"stream":"a", "seq":18446744073709551615}"#, UInt64.max),
        (#"{"stream":"", "seq":0}"#, 0), (#"{"stream":"KV_jobs","seq":17}"#, 17),
    ])
    func `a number that a server gives is read`(answer: String, number: UInt64) {
        #expect(PublishAck.number(in: Array(answer.utf8)) == number)
    }

    @Test(arguments: [
        "", "{", "{}", #"{"stream":"a"}"#, #"{"stream":"a", "seq":}"#, #"{"stream":"a", "seq":1"#,
        #"{"stream":"a", "seq":-1}"#, #"{"stream":"a", "seq":01}"#, #"{"stream":"a", "seq":1.0}"#,
        #"{"stream":"a", "seq":18446744073709551616}"#, #"{"stream":"a", "seq":1, "duplicate":true}"#,
        #"{"stream":"a", "seq":1}}"#, #"{"stream":"a\", "seq":1}"#, #"{"stream":"a",  "seq":1}"#,
        #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"},"stream":"a","seq":0}"#,
    ])
    func `all else is left to the parser`(answer: String) {
        #expect(PublishAck.number(in: Array(answer.utf8)) == nil)
    }

    @Test(
        arguments: [(10_071, true), (10_164, true), (10_163, false), (10_037, false), (nil, false)] as [(Int?, Bool)])
    func `a change that came later is told from all else that is refused`(number: Int?, isConflict: Bool) {
        #expect(PublishAck.isConflict(number) == isConflict)
    }

    @Test func `the server that is installed is read so`() async throws {
        let server = try await NATSServer.start()
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        try await JetStream(connection).ensure(
            StreamConfiguration("work", subjects: ["work.*"], description: "a test's"))
        let answer = try await connection.request(OutgoingMessage("work.one", []))
        #expect(PublishAck.number(in: answer.bytes) == 1)
    }
}
