import Foundation
import TestSupport
import Testing

/// `attachprep payload` with JSON Lines and with arrays of payloads.
@Suite(.timeLimit(.minutes(2))) struct PayloadLinesTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func payload(_ input: String, _ options: String...) async throws -> CommandResult {
        let arguments = [
            "payload", "-", "--output", bench.output, "--base-url", "https://media.example/push",
            "--allow-private-network",
        ]
        return try await bench.command(arguments + options, input: input).run()
    }

    private func line(_ sample: String, _ mark: Int) throws -> String {
        #"{"n":\#(mark),"aps":{"alert":"x","mutable-content":1},"attach":"\#(try CommandBench.url(sample))"}"#
    }

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test func `Each line gives one line in order, and a bad line does not stop the others`() async throws {
        let input = [try line("grid.webp", 1), "{broken", #"{"aps":{}}"#, "", try line("grid.png", 4)]
        let result = try await payload(input.joined(separator: "\n") + "\n")
        let output = lines(result.text)
        #expect(output.count == 4 && result.exitCode == 1, "\(result.text) \(result.errorText)")
        #expect(output[0].hasPrefix(#"{"n":1,"#) && output[0].contains("https://media.example/push/"))
        #expect(output[1] == "null" && output[2] == "null")
        #expect(output[3].hasPrefix(#"{"n":4,"#) && !output[3].contains("127.0.0.1"))
        #expect(result.errorText.contains("line 2: payload.invalid"))
        #expect(result.errorText.contains("line 3: payload.no_media"))
    }

    @Test func `A source in many lines is prepared once`() async throws {
        let origin = try LoopbackServer()
        let image = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample("grid.png")))
        origin.serve("/a.png", .body(image))
        let push = #"{"aps":{"alert":"x","mutable-content":1},"attach":"\#(origin.url("/a.png"))"}"#
        let result = try await payload([push, push, push].joined(separator: "\n"))
        #expect(result.exitCode == 0 && Set(lines(result.text)).count == 1 && lines(result.text).count == 3)
        #expect(origin.requests.count == 1)
    }

    @Test func `With --format json a failed line has its error`() async throws {
        let result = try await payload("\(try line("grid.png", 1))\n" + #"{"aps":{}}"#, "--format", "json")
        let output = try lines(result.text).map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(output.count == 2 && output[0]["manifests"] != nil)
        #expect((output[1]["error"] as? [String: Any])?["code"] as? String == "payload.no_media")
    }

    @Test func `A payload over several lines is one payload, and --lines overrides that`() async throws {
        let input = try line("grid.png", 1).replacing(",", with: ",\n")
        let one = try await payload(input)
        #expect(one.exitCode == 0, "\(one.errorText)")
        let split = try await payload(input, "--lines")
        #expect(split.exitCode == 1 && Set(lines(split.text)) == ["null"])
    }

    @Test func `--check reports each line`() async throws {
        let input = try "\(line("grid.png", 1))\n\(line("grid.webp", 2))\n{"
        let result = try await payload(input, "--check", "--format", "json")
        let output = lines(result.text)
        #expect(output.count == 3 && result.exitCode == 1)
        #expect(output[0].contains(#""dialect":"attach""#) && output[2].contains("payload.invalid"))
    }

    /// https://github.com/expo/expo-server-sdk-node
    @Test func `Expo's array of messages is rewritten in place`() async throws {
        let url = try CommandBench.url("grid.webp")
        let message = { (to: Int) in
            #"{"to": "ExponentPushToken[\#(to)]", "richContent": {"image": "\#(url)"}}"#
        }
        let result = try await payload("[\n  \(message(1)),\n  \(message(2))\n]\n")
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(
            result.text.hasPrefix(
                "[\n  {\"to\": \"ExponentPushToken[1]\", \"richContent\": {\"image\": \"https://media"))
        #expect(!result.text.contains("127.0.0.1") && !result.text.contains("attachprep\""))
        let check = try await payload("[\(message(1)),\(message(2))]", "--check", "--format", "json")
        let reports = try JSONSerialization.jsonObject(with: Data(check.text.utf8)) as? [[String: Any]]
        #expect(reports?.compactMap { $0["index"] as? Int } == [0, 1])
    }

    @Test func `--preview is wrong usage with JSON Lines`() async throws {
        let result = try await payload(
            "\(try line("grid.png", 1))\n\(try line("grid.png", 2))", "--preview", bench.folder.path("p.html"))
        #expect(result.exitCode == 2 && result.errorText.contains("--preview"))
    }
}
