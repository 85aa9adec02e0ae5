import Foundation
import TestSupport
import Testing

/// `attachprep payload`: rewrites the media URLs of a push payload.
@Suite(.timeLimit(.minutes(2))) struct PayloadCommandTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private static let base = "https://media.example/push"

    private func payload(_ json: String, _ options: String...) async throws -> CommandResult {
        let arguments = ["payload", "-", "--output", bench.output, "--base-url", Self.base, "--allow-private-network"]
        return try await bench.command(arguments + options, input: json).run()
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    private func digest(of content: Data) async throws -> String {
        let path = try bench.folder.write(Array(content), to: "digested")
        return String(try await RunCommand("sha256sum", [path]).run().text.prefix { $0 != " " })
    }

    /// The neutral object's attachments.
    private func attachments(_ text: String) throws -> [[String: Any]] {
        let neutral = try #require(try object(text)["attachprep"] as? [String: Any], "\(text)")
        return try #require(neutral["attachments"] as? [[String: Any]])
    }

    @Test func `The URL is replaced in place, and all other bytes of the payload are unchanged`() async throws {
        let source = try CommandBench.url("grid.webp")
        let before =
            #"{ "aps" : {"alert":"A c\u00e4t", "mutable-content" : 1.0e0},"n":[1.50,-0,12345678901234567890], "#
        let result = try await payload(before + "\"attach\" : \"\(source)\" , \"z\": {} }\n")
        #expect(result.exitCode == 0, "\(result.errorText)")
        let attachment = try #require(try attachments(result.text).first)
        let url = try #require(attachment["url"] as? String)
        #expect(result.text.hasPrefix(before + "\"attach\" : \"\(url)\" , \"z\": {}"))
        let sha256 = try #require(attachment["sha256"] as? String)
        #expect(url == "\(Self.base)/_content/\(sha256.prefix(32)).jpg")
    }

    @Test func `The new URL serves the file, whose length and digest are in the payload`() async throws {
        let json = #"{"aps":{"alert":"x","mutable-content":1},"attach":"\#(try CommandBench.url("clock.mov"))"}"#
        let attachment = try #require(try attachments(try await payload(json).text).first)
        let url = try #require(attachment["url"] as? String)
        let content = try Data(contentsOf: URL(fileURLWithPath: bench.output + url.dropFirst(Self.base.count)))
        #expect(attachment["bytes"] as? Int == content.count)
        let expected = try await digest(of: content)
        #expect(attachment["sha256"] as? String == expected)
        #expect((attachment["options"] as? [String: Any])?["typeHint"] as? String == "public.mpeg-4")
        #expect((attachment["thumbnail"] as? [String: Any])?["url"] as? String != nil)
    }

    // Issue 23, item 10.
    @Test func `A new version of a source leaves the file of a payload that is on its way`() async throws {
        let server = try LoopbackServer()
        let versions = try ["grid.jpg", "orientation-6.jpg"].map {
            try Data(contentsOf: URL(filePath: SourceTree.sample($0)))
        }
        server.serve("/cat.jpg", inTurn: versions.map { .body($0) })
        let json = #"{"aps":{"alert":"x","mutable-content":1},"attach":"\#(server.url("/cat.jpg"))"}"#
        let sent = try await [payload(json), payload(json)].map { try #require(try attachments($0.text).first) }
        #expect(sent[0]["url"] as? String != sent[1]["url"] as? String)
        for attachment in sent {
            let url = try #require(attachment["url"] as? String)
            let content = try Data(contentsOf: URL(fileURLWithPath: bench.output + url.dropFirst(Self.base.count)))
            let found = try await digest(of: content)
            #expect(attachment["sha256"] as? String == found)
        }
    }

    // Issue 23, item 2. https://github.com/CleverTap/CTNotificationService
    @Test func `Audio for CleverTap becomes an MP3, which its SDK's file name says`() async throws {
        let source = try CommandBench.url("tone.m4a")
        let json = #"{"aps":{"alert":"x","mutable-content":1},"ct_mediaUrl":"\#(source)","ct_mediaType":"audio"}"#
        let result = try await payload(json)
        let attachment = try #require(try attachments(result.text).first)
        #expect(result.exitCode == 0 && result.errorText == "", "\(result.errorText)")
        #expect((attachment["url"] as? String)?.hasSuffix(".mp3") == true)
        #expect((attachment["options"] as? [String: Any])?["typeHint"] as? String == "public.mp3")
        let check = try await payload(json, "--check", "--silence", "payload.insecure_url")
        #expect(check.exitCode == 0 && check.text.contains("payload.file_name_contradicted"), "\(check.text)")
        let own = try await payload(json, "--attachment-types", "m4a")
        #expect((try attachments(own.text).first?["url"] as? String)?.hasSuffix(".m4a") == true)
    }

    @Test func `Crop, thumbnail time and a hidden thumbnail are taken from the payload`() async throws {
        let media =
            #"{"url":"\#(try CommandBench.url("clock.mp4"))","options":{"time":1.5,"hidden":true,"#
            + #""crop":{"x":0.25,"y":0,"width":0.5,"height":1}}}"#
        let json = #"{"aps":{"alert":"x","mutable-content":1},"com.urbanairship.media_attachment":\#(media)}"#
        let result = try await payload(json)
        let options = try #require(try attachments(result.text).first?["options"] as? [String: Any])
        #expect((options["thumbnailTime"] as? [String: Any])?["value"] as? Int == 900)
        #expect((options["thumbnailClippingRect"] as? [String: Any])?["Width"] as? Double == 0.5)
        #expect(options["thumbnailHidden"] as? Bool == true)
    }

    @Test func `Several media keep their order`() async throws {
        let names = ["clock.mp4", "tone.flac", "grid.heic"]
        let urls = try names.map { try CommandBench.url($0) }
        let json = """
            {"aps":{"alert":"x","mutable-content":1,"image":"\(urls[2])","audio":"\(urls[1])","movie":"\(urls[0])"}}
            """
        let result = try await payload(json)
        let found = try attachments(result.text).compactMap { ($0["url"] as? String)?.split(separator: ".").last }
        #expect(found == ["mp4", "m4a", "jpg"], "\(result.text) \(result.errorText)")
    }

    @Test func `Media that cannot be delivered are removed, with the reason and exit code 1`() async throws {
        let json = #"{"aps":{"alert":"x","mutable-content":1},"n":1,"attach":"\#(try CommandBench.url("tune.mid"))"}"#
        let result = try await payload(json)
        #expect(result.exitCode == 1)
        #expect(result.text == #"{"aps":{"alert":"x","mutable-content":1},"n":1}"#)
        #expect(result.errorText.contains("payload.media_removed") && result.errorText.contains("media.unsupported"))
    }

    @Test func `A payload that only fits with its own URL is printed as it was, and can be sent`() async throws {
        let media = #""attach":"\#(try CommandBench.url("grid.webp"))""#
        let empty = #"{"aps":{"alert":"","mutable-content":1},\#(media)}"#
        let alert = String(repeating: "a", count: 4_096 - empty.utf8.count)
        let json = empty.replacing(#""alert":"""#, with: #""alert":"\#(alert)""#)
        let result = try await payload(json)
        #expect(result.exitCode == 0 && result.text == json, "\(result.text)")
        #expect(result.errorText.contains("payload.not_rewritten"), "\(result.errorText)")
    }

    @Test func `With --format json, the output has the form of the service's response`() async throws {
        let json = #"{"aps":{"alert":"x"},"attach":"\#(try CommandBench.url("grid.png"))"}"#
        let answer = try object(try await payload(json, "--format", "json").text)
        #expect(Set(answer.keys) == ["payload", "manifests", "warnings"])
        #expect((answer["manifests"] as? [[String: Any]])?.first?["outcome"] as? String == "passed")
        let codes = (answer["warnings"] as? [[String: Any]])?.compactMap { $0["code"] as? String }
        #expect(codes == ["payload.mutable_content_missing"])
    }

    @Test func `--media-key sets the key where the URL is found and replaced`() async throws {
        let json = """
            {"aps":{"alert":"x","mutable-content":1},"my.app":{"pic":{"large":"\(try CommandBench.url("grid.avif"))"}}}
            """
        let result = try await payload(json, "--media-key", "my.app.pic.large")
        let mine = try object(result.text)["my.app"] as? [String: [String: String]]
        let url = try #require(mine?["pic"]?["large"], "\(result.text) \(result.errorText)")
        #expect(url.hasPrefix("\(Self.base)/_content/") && url.hasSuffix(".jpg"))
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"x","mutable-content":1}}"#, "payload.no_media"), ("[]", "payload.invalid"),
        ("", "payload.invalid"), (#"{"a":1,"a":2}"#, "payload.invalid"),
        (String(repeating: " ", count: 70_000), "payload.too_large"),
        (String(repeating: "[", count: 60_000), "payload.invalid"),
    ])
    func `A payload that cannot be rewritten is reported with its error code`(json: String, code: String) async throws {
        let result = try await payload(json)
        #expect(result.exitCode == 1 && result.text.isEmpty)
        #expect(result.errorText.hasPrefix("attachprep: \(code): "), "\(result.errorText)")
    }

    @Test(arguments: [
        [], ["--base-url", "https://m.example", "--dialect", "airshop"],
        ["--base-url", "https://m.example", "--dialect", "airship", "--media-key", "a"],
        ["--base-url", "https://m.example", "--campaign", "summer"],
    ])
    func `Missing or contradictory options are wrong usage`(options: [String]) async throws {
        let result = try await bench.command(["payload", "-"] + options, input: "{}").run()
        #expect(result.exitCode == 2, "\(result.errorText)")
    }

    // MARK: --check

    @Test func `--check accepts a valid payload`() async throws {
        let json = #"{"aps":{"alert":"x","mutable-content":1},"attach":"https://cdn.example/cat.jpg"}"#
        let result = try await bench.command(["payload", "-", "--check"], input: json).run()
        #expect(result.exitCode == 0, "\(result.text)")
        #expect(result.text.contains("attach  https://cdn.example/cat.jpg"))
        #expect(try bench.leftovers() == [])
    }

    @Test func `--check warns about a payload that iOS would not show, without a download`() async throws {
        let json = #"{"aps":{"category":"c"},"attach":"http://nowhere.invalid/cat.webp"}"#
        let result = try await bench.command(["payload", "-", "--check", "--format", "json"], input: json).run()
        #expect(result.exitCode == 1)
        let report = try object(result.text)
        let codes = (report["warnings"] as? [[String: Any]])?.compactMap { $0["code"] as? String } ?? []
        #expect(
            Set(codes) == [
                "payload.mutable_content_missing", "payload.alert_missing", "payload.insecure_url",
                "payload.type_not_attachable", "payload.content_extension",
            ])
        #expect(report["dialect"] as? String == "attach")
    }
}

/// Payloads for Android and browsers.
extension PayloadCommandTests {
    @Test func `FCM's shared GIF becomes a still for Android, and iOS gets the GIF`() async throws {
        let json =
            #"{"message":{"topic":"t","notification":{"title":"x","image":"\#(try CommandBench.url("counter.gif"))"},"#
            + #""apns":{"payload":{"aps":{"mutable-content":1}}}}}"#
        let result = try await payload(json)
        #expect(result.exitCode == 0, "\(result.errorText)")
        let message = try #require(try object(result.text)["message"] as? [String: Any], "\(result.text)")
        let shared = try #require((message["notification"] as? [String: Any])?["image"] as? String)
        let options = (message["apns"] as? [String: Any])?["fcm_options"] as? [String: Any]
        #expect(shared.hasSuffix(".jpg") || shared.hasSuffix(".png"), "\(shared)")
        #expect((options?["image"] as? String)?.hasSuffix(".gif") == true, "\(result.text)")
        let file = try Data(contentsOf: URL(fileURLWithPath: bench.output + shared.dropFirst(Self.base.count)))
        #expect(file.count <= 1_048_576)
    }

    @Test func `--for adds the fields of Android and browsers to an FCM message`() async throws {
        let json =
            #"{"message":{"topic":"t","notification":{"title":"x"},"apns":{"payload":{"aps":{"mutable-content":1}},"#
            + #""fcm_options":{"image":"\#(try CommandBench.url("grid.jpg"))"}}}}"#
        let result = try await payload(json, "--for", "ios,android,web")
        #expect(result.exitCode == 0, "\(result.errorText)")
        let message = try #require(try object(result.text)["message"] as? [String: Any], "\(result.text)")
        for block in ["android", "webpush"] {
            let notification = (message[block] as? [String: Any])?["notification"] as? [String: Any]
            #expect((notification?["image"] as? String)?.hasPrefix(Self.base) == true, "\(block): \(result.text)")
        }
    }

    @Test func `Web push JSON is rewritten in place`() async throws {
        let json = #"{"title":"t","icon":"\#(try CommandBench.url("grid.png"))","n":1.50}"#
        let result = try await payload(json)
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.text.hasPrefix(#"{"title":"t","icon":"\#(Self.base)/_content/"#), "\(result.text)")
        #expect(result.text.hasSuffix(#","n":1.50}"#) && !result.text.contains("attachprep"))
    }

    @Test func `A missing third choice does not fail a payload whose first media is fine`() async throws {
        let json =
            #"{"aps":{"alert":"x","mutable-content":1,"movie":"\#(try CommandBench.url("clock.mp4"))","#
            + #""image":"\#(try CommandBench.url("missing.jpg"))"}}"#
        let result = try await payload(json)
        #expect(result.exitCode == 0 && result.errorText.contains("payload.media_removed"), "\(result.errorText)")
        #expect(!result.text.contains("missing"))
    }

    @Test func `The error for unknown media first names the option to use`() async throws {
        let json = #"{"aps":{"alert":"x","mutable-content":1},"own":{"hero":"https://cdn.example/cat.jpg"}}"#
        let result = try await payload(json)
        #expect(result.exitCode == 1)
        #expect(result.errorText.hasPrefix("attachprep: payload.no_media: Use --media-key own.hero, "))
        let android = #"{"message":{"android":{"notification":{"image":"https://cdn.example/cat.jpg"}}}}"#
        let other = try await payload(android)
        #expect(other.errorText.hasPrefix("attachprep: payload.no_media: Use --for ios,android to have "))
    }

    @Test func `--check is not good when notes say that nothing is shown`() async throws {
        let json = #"{"attach":"https://cdn.example/cat.jpg"}"#
        let result = try await bench.command(["payload", "-", "--check"], input: json).run()
        #expect(result.text.contains("payload.mutable_content_missing") && !result.text.contains("good "))
    }
}

extension PayloadCommandTests {
    @Test func `--list-dialects prints the same dialects as the table in the documentation`() async throws {
        let listed = try await bench.command(["payload", "--list-dialects"]).run()
        let rows = listed.lines.map { line in
            line.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        #expect(rows.count > 35 && rows.allSatisfy { $0.count == 3 })
        let page = try String(contentsOfFile: SourceTree.path("docs/reference/dialects.md"), encoding: .utf8)
        let table = page.components(separatedBy: "<!-- generated: dialects -->").dropFirst().first?
            .components(separatedBy: "<!-- end of dialects -->").first
        let expected = rows.map { row in
            let keys = row[2].components(separatedBy: ", ").map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(row[0])` | \(row[1]) | \(keys) |"
        }
        #expect(table?.split(separator: "\n").dropFirst(2).map(String.init) == expected)
    }
}
