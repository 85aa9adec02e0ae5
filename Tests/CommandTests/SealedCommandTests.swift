import Foundation
import TestSupport
import Testing

/// `--seal` with the real command: what is stored, printed and left behind.
@Suite(.timeLimit(.minutes(3))) struct SealedCommandTests {
    /// The printed manifest, as far as it concerns sealed files.
    private struct Printed: Decodable {
        struct Seal: Decodable {
            let version: Int
            let secret: String?
        }

        struct Content: Decodable {
            let mimeType: String
            let bytes: Int
        }

        struct File: Decodable {
            let file: String
            let url: String?
            let mimeType: String
            let bytes: Int
            let sealed: Content?
        }

        let outcome: String
        let sealed: Seal?
        let attachment: File?
        let thumbnail: File?
        let crop: File?
    }

    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func prepare(_ options: String..., source: String = "grid.jpg") async throws -> Printed {
        let arguments = ["--seal"] + options + [try CommandBench.url(source)]
        let result = try await bench.command(bench.arguments("prepare", arguments)).run()
        #expect(result.exitCode == 0, "\(result.text)\(result.errorText)")
        return try JSONDecoder().decode(Printed.self, from: Data(result.output))
    }

    private func file(_ file: Printed.File) throws -> Data {
        Data(try bench.folder.bytes(of: "out/_content/\(file.file)"))
    }

    @Test func `Attachment, thumbnail and crop are opened with the secret of the result`() async throws {
        let manifest = try await prepare("--crop", "0,0,0.5,1")
        let secret = try #require(manifest.sealed?.secret)
        #expect(manifest.outcome == "passed" && manifest.sealed?.version == 1)
        let files = [("attachment", manifest.attachment), ("thumbnail", manifest.thumbnail), ("crop", manifest.crop)]
        for (role, file) in files {
            let file = try #require(file)
            let opened = try await SealedFileDecoder.open(self.file(file), secret: secret, as: role)
            #expect(opened.type == "image/jpeg" && opened.name == "\(role).jpg")
            #expect(opened.content.count == file.sealed?.bytes && file.sealed?.mimeType == "image/jpeg")
            #expect(file.mimeType == "application/octet-stream")
        }
        let source = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        let attachment = try #require(manifest.attachment)
        let opened = try await SealedFileDecoder.open(file(attachment), secret: secret, as: "attachment")
        #expect(opened.content == source)
    }

    @Test func `The output folder has only files of random names and padded lengths`() async throws {
        let manifest = try await prepare("--base-url", "https://media.example/push", source: "counter.gif")
        let stored = try bench.folder.contents().filter { $0.hasPrefix("out/") && $0 != "out/_content" }
        #expect(stored.count == 2)
        for path in stored {
            let name = try #require(path.split(separator: "/").last)
            #expect(path.hasPrefix("out/_content/") && name.count == 32 && name.allSatisfy(\.isHexDigit), "\(path)")
            let bytes = try bench.folder.bytes(of: path)
            let chunks = (bytes.count - 34 + 65_551) / 65_552
            #expect((bytes.count - 34 - chunks * 16) % 4_096 == 0)
            #expect(Data(bytes).range(of: Data("GIF".utf8)) == nil)
        }
        #expect(manifest.attachment?.url == "https://media.example/push/_content/\(manifest.attachment?.file ?? "")")
        #expect(try bench.folder.contents().filter { $0.hasPrefix("tmp/") && !$0.contains("swift") }.isEmpty)
    }

    @Test func `Each attempt has a secret and files of its own, also with --resume`() async throws {
        let first = try await prepare("--resume")
        let second = try await prepare("--resume")
        #expect(first.sealed?.secret != second.sealed?.secret)
        #expect(first.attachment?.file != second.attachment?.file)
    }

    @Test func `A page for people shows neither the secret nor what it opens`() async throws {
        let page = bench.folder.path("page.html")
        let manifest = try await prepare("--preview", page)
        let text = try String(contentsOfFile: page, encoding: .utf8)
        #expect(!text.contains(try #require(manifest.sealed?.secret)))
        let source = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        #expect(!text.contains(source.base64EncodedString().prefix(200)))
    }

    @Test func `Nothing in a bucket tells what the files are`() async throws {
        let store = try await ObjectStore.shared()
        let prefix = "sealed-\(UUID().uuidString)"
        let environment = store.environment.mapValues { Optional($0) }
        let arguments = [
            "prepare", "--format", "json", "--allow-private-network", "--seal", "--s3-layout", "id", "--publish",
            "s3://\(ObjectStore.bucket)/\(prefix)", try CommandBench.url("grid.jpg"),
        ]
        let result = try await bench.command(arguments, environment: environment).run()
        #expect(result.exitCode == 0, "\(result.text)\(result.errorText)")
        let manifest = try JSONDecoder().decode(Printed.self, from: Data(result.output))
        let files = try [#require(manifest.attachment), #require(manifest.thumbnail)]
        let keys = try await store.keys(below: prefix)
        #expect(Set(keys) == Set(files.map { "\(prefix)/_content/\($0.file)" }), "\(keys)")
        for key in keys {
            let object = try await store.object(key)
            #expect(object.headers["content-type"] == "application/octet-stream", "\(object.headers)")
            for (name, value) in object.headers {
                #expect(!value.contains("jpg") && !value.contains("attachment.") && !name.contains("jpeg"), "\(value)")
            }
        }
        let opened = try await SealedFileDecoder.open(
            Data(store.object("\(prefix)/_content/\(files[0].file)").body),
            secret: #require(manifest.sealed?.secret), as: "attachment")
        #expect(opened.content == (try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))))
    }

    @Test(arguments: [["--for", "ios,android"], ["--avatar", "https://cdn.example/face.jpg"]])
    func `Media for other systems is not sealed`(options: [String]) async throws {
        let arguments = ["--seal"] + options + [try CommandBench.url("grid.jpg")]
        let result = try await bench.command(bench.arguments("prepare", arguments)).run()
        #expect(result.exitCode == 1 && result.text.contains("Sealed media is for iOS alone"), "\(result.text)")
    }

    // MARK: Payloads

    private func payload(_ payload: String, _ options: String...) async throws -> CommandResult {
        let arguments = ["--seal", "--base-url", "https://media.example", "-"] + options
        let all = ["payload", "--output", bench.output, "--allow-private-network", "--format", "json"] + arguments
        return try await bench.command(all, input: payload).run()
    }

    @Test func `A payload carries the secret, the kind and the length of each file`() async throws {
        let source = try CommandBench.url("grid.jpg")
        let result = try await payload(#"{"aps":{"alert":"x","mutable-content":1},"attachment-url":"\#(source)"}"#)
        #expect(result.exitCode == 0, "\(result.text)\(result.errorText)")
        let output = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any], "\(result.text)")
        let sent = try #require(output["payload"] as? [String: Any], "\(output.keys)")
        let object = try #require(sent["attachprep"] as? [String: Any])
        let attachment = try #require((object["attachments"] as? [[String: Any]])?.first)
        let seal = try #require(attachment["sealed"] as? [String: Any])
        let bytes = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg"))).count
        #expect(seal["kind"] as? String == "image" && seal["bytes"] as? Int == bytes)
        #expect(attachment["sha256"] == nil && attachment["options"] == nil)
        let url = try #require(attachment["url"] as? String)
        #expect(sent["attachment-url"] as? String == url)
        let name = try #require(url.split(separator: "/").last)
        let opened = try await SealedFileDecoder.open(
            Data(bench.folder.bytes(of: "out/_content/\(name)")), secret: #require(seal["secret"] as? String),
            as: "attachment")
        #expect(opened.content.count == bytes)
        let thumbnail = try #require(attachment["thumbnail"] as? [String: Any])
        #expect((thumbnail["sealed"] as? [String: Any])?["kind"] as? String == "image")
        #expect(!"\(sent)".contains(source))
        #expect((output["warnings"] as? [Any])?.isEmpty == true)
    }

    @Test func `Payloads of a list with the same media have secrets of their own`() async throws {
        let one = #"{"aps":{"alert":"x","mutable-content":1},"attachment-url":"\#(try CommandBench.url("grid.jpg"))"}"#
        let result = try await payload("[\(one), \(one)]")
        let secrets = result.text.matches(of: /"sealed":\{"secret":"([A-Za-z0-9_-]{43})"/).map { String($0.output.1) }
        #expect(Set(secrets).count == 2, "\(result.text)\(result.errorText)")
    }

    @Test func `A payload that cannot carry the secret, or whose media others show, is refused`() async throws {
        let source = try CommandBench.url("grid.jpg")
        let own = #"{"aps":{"alert":"x","mutable-content":1},"attachment-url":"\#(source)"}"#
        let fcm =
            #"{"message":{"notification":{"image":"\#(source)"},"apns":{"payload":{"aps":{"mutable-content":1}}}}}"#
        for result in [try await payload(own, "--no-neutral"), try await payload(fcm)] {
            #expect(result.exitCode == 1)
            #expect((result.text + result.errorText).contains("cannot be sealed"), "\(result.text)\(result.errorText)")
        }
        #expect(try bench.folder.contents().filter { $0.hasPrefix("out/_content/") }.isEmpty)
    }

    @Test func `A payload without room for the secret is not sent in the clear`() async throws {
        let filler = String(repeating: "x", count: 3_850)
        let source = try CommandBench.url("grid.jpg")
        let result = try await payload(
            #"{"aps":{"alert":"\#(filler)","mutable-content":1},"attachment-url":"\#(source)"}"#)
        let printed = result.text + result.errorText
        #expect(result.exitCode == 1 && printed.contains("payload.too_large"), "\(printed)")
    }
}
