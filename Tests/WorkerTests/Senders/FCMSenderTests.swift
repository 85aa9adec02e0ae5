import Foundation
import TestSupport
import Testing

/// The senders of `samples/senders` for FCM, from a campaign over the real service to a server in the place of FCM.
@Suite(.timeLimit(.minutes(3))) struct FCMSenderTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// A program with its first arguments; the sender in Swift is built first.
    private func command(_ program: [String]) async throws -> [String] {
        let source = SourceTree.path("samples/senders/\(program.last ?? "")")
        guard program.first == "swiftc" else { return program.dropLast() + [source] }
        let built = bench.folder.path("fcm")
        let options = ["-swift-version", "6", "-parse-as-library", source, "-o", built]
        let result = try await RunCommand("swiftc", options, timeoutSeconds: 120).run()
        try #require(result.exitCode == 0, "\(result.text)\(result.errorText)")
        return [built]
    }

    @Test(arguments: [["python3", "-B", "fcm.py"], ["node", "fcm.mjs"], ["swiftc", "swift/Sources/fcm/FCM.swift"]])
    func `A sample sender sends each device a message with the media of every system`(program: [String]) async throws {
        let fcm = try LoopbackServer()
        let path = "/v1/projects/example/messages:send"
        fcm.serve(path, inTurn: [.body(Data("{}".utf8)), .status(503), .body(Data("{}".utf8)), .status(404)])
        let service = try await bench.start()
        let message =
            #"{"notification":{"title":"A & B, é","image":"\#(try ServiceBench.url("counter.gif"))"},"#
            + #""apns":{"payload":{"aps":{"mutable-content":1}}}}"#
        let command = try await command(program)
        let arguments = [
            try bench.folder.write(#"{"name":"spring","payload":{"message":\#(message)}}"# + "\n", to: "fcm.jsonl"),
            try bench.folder.write("one\ntwo\nthree\n", to: "tokens.txt"),
        ]
        let result = try await RunCommand(
            command[0], command.dropFirst() + arguments,
            environment: [
                "ATTACHPREP_URL": service.url, "ATTACHPREP_TOKEN": nil, "FCM_URL": fcm.url(""),
                "FCM_PROJECT": "example", "FCM_ACCESS_TOKEN": "secret",
            ]
        ).run()
        try await service.stop()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.lines.last == "spring: sent 2, removed 1, failed 0", "\(result.text)")
        let bodies = try fcm.requests.map { request in
            #expect(request.headers["authorization"] == "Bearer secret")
            return try #require(try JSONSerialization.jsonObject(with: request.body) as? [String: [String: Any]])
        }
        let sent = try #require(bodies.first?["message"])
        let image = { (block: String, key: String) in
            ((sent[block] as? [String: Any])?[key] as? [String: Any])?["image"]
        }
        #expect(((sent["notification"] as? [String: Any])?["image"] as? String)?.hasSuffix(".gif") == false)
        #expect((image("apns", "fcm_options") as? String)?.hasSuffix(".gif") == true, "\(sent)")
        #expect(image("webpush", "notification") != nil, "\(sent)")
        #expect(Set(bodies.compactMap { $0["message"]?["token"] as? String }) == ["one", "two", "three"])
    }
}
