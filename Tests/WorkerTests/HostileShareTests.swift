import Foundation
import TestSupport
import Testing

/// Drawings that take all the processor time they may, beside ordinary images, through the real service. Times are
/// compared within one run, and only by `make test-hostile`.
@Suite(.timeLimit(.minutes(15)), .serialized, .enabled(if: LinearCost.isCompared)) struct HostileShareTests {
    private static let tokens = ["token-of-a-hostile-caller-1", "token-of-an-ordinary-caller"]
    private static let hostileJobs = 40
    private static let ordinaryJobs = 30
    /// How much longer ordinary jobs may take beside the others, and what a busy moment may add to a short time.
    private static let slowdownMax = 3.0

    let bench: ServiceBench
    /// Two hosts: shares within a token are by host.
    let servers: [LoopbackServer]

    init() throws {
        bench = try ServiceBench()
        servers = try ["127.0.0.2", "127.0.0.3"].map { try LoopbackServer(address: $0) }
        for number in 0..<Self.hostileJobs {
            servers[0].serve("/noise/\(number).svg", .body(Data(Self.drawing(number).utf8), type: "image/svg+xml"))
        }
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("picture.jpg")))
        for server in servers {
            for number in 0..<Self.ordinaryJobs * 2 {
                server.serve("/\(number).jpg", .body(image, type: "image/jpeg"))
            }
        }
    }

    /// 820 bytes that take minutes to draw, and are another file for each number, so that none is in quarantine.
    private static func drawing(_ number: Int) -> String {
        let noise = "<filter id='f'><feTurbulence baseFrequency='0.5' numOctaves='900000'/></filter>"
        let text =
            "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='900'>\(noise)"
            + "<rect width='900' height='900' filter='url(#f)'/><desc>\(number)"
        return text + String(repeating: " ", count: 807 - text.utf8.count) + "</desc></svg>"
    }

    /// Prepares ordinary images one after the other.
    ///
    /// - Returns: The time at which 95 of 100 had ended after their submission, in seconds.
    private func percentile95(
        _ client: ServiceClient, of server: LoopbackServer, from first: Int
    ) async throws -> Double {
        var seconds: [Double] = []
        for number in first..<first + Self.ordinaryJobs {
            let began = ContinuousClock.now
            let response = try await client.send(
                "POST", "/v1/jobs",
                body: #"{"source": "\#(server.url("/\(number).jpg"))", "options": {"thumbnailSize": "#
                    + #"{"width": \#(50 + number), "height": 50}}}"#,
                headers: ["Prefer": "wait=50"])
            seconds.append(began.duration(to: .now) / .seconds(1))
            #expect(response.status == 200, "\(response.text)")
        }
        return seconds.sorted()[seconds.count * 95 / 100]
    }

    private func submitHostile(_ client: ServiceClient) async throws -> [String] {
        let lines = (0..<Self.hostileJobs).map {
            #"{"source": "\#(servers[0].url("/noise/\($0).svg"))", "budget": 30, "priority": "high"}"#
        }
        return try await client.submit(lines: lines)
    }

    private func expectFairness(
        hostile: String, ordinary: String, server: LoopbackServer, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let tokens = try bench.folder.write(Self.tokens.joined(separator: "\n"), to: "tokens")
        let service = try await bench.start(["--token-file", tokens])
        let caller = ServiceClient(url: service.url, token: ordinary)
        let alone = try await percentile95(caller, of: server, from: 0)
        let attacker = ServiceClient(url: service.url, token: hostile)
        let jobs = try await submitHostile(attacker)
        let beside = try await percentile95(caller, of: server, from: Self.ordinaryJobs)
        let running = try await attacker.jobs(state: "queued,running").count
        #expect(running > 0, "the hostile jobs ended before the ordinary ones", sourceLocation: sourceLocation)
        #expect(
            beside <= alone * Self.slowdownMax, "alone \(alone) s, beside \(beside) s",
            sourceLocation: sourceLocation)
        print("hostile shares: alone \(alone) s, beside \(beside) s, ratio \(beside / alone)")
        try await attacker.allEnded(seconds: 600)
        let codes = Set(try await jobs.asyncMap { try await attacker.job($0).errorCode ?? "none" })
        // On a busy machine, 2 s of processor time can last longer than the budget.
        let isLimited =
            codes.contains("media.too_complex") && codes.isSubset(of: ["media.too_complex", "deadline.exceeded"])
        #expect(isLimited, "\(codes)", sourceLocation: sourceLocation)
        try await service.stop()
    }

    @Test func `40 hostile drawings of one token make another's images at most three times as slow`() async throws {
        try await expectFairness(hostile: Self.tokens[0], ordinary: Self.tokens[1], server: servers[0])
    }

    @Test func `40 hostile drawings of one host make another host's images at most three times as slow`() async throws {
        try await expectFairness(hostile: Self.tokens[0], ordinary: Self.tokens[0], server: servers[1])
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
