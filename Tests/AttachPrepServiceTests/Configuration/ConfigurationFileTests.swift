import Foundation
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

/// The file of `--config`: its keys, its precedence, and the errors for what is wrong in it.
struct ConfigurationFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func read(
        _ text: String?, flags: [Setting: String] = [:], environment: [String: String] = [:],
        role: ServeConfiguration.Role = .serve
    ) throws -> ServeConfiguration {
        var flags = flags
        if let text { flags[.config] = try folder.write(text, to: "attachprep.yaml") }
        return try ServeConfiguration(
            flags: flags, environment: ["HOME": "/home/push"].merging(environment) { $1 }, role: role)
    }

    private func message(_ text: String) -> String {
        let error = #expect(throws: AttachPrepError.self, "\(text)") { try read(text) }
        #expect(error?.code == .requestInvalid)
        return error?.message ?? ""
    }

    /// File, variable and flag, and the value in force.
    @Test(
        arguments: [
            (nil, nil, nil, 100_000), ("5", nil, nil, 5), ("5", "6", nil, 6), ("5", "6", "7", 7), ("5", nil, "7", 7),
            (nil, "6", "7", 7), ("5", "", "", 5),
        ] as [(String?, String?, String?, Int)])
    func `Flags have precedence over variables, and variables over the file`(
        file: String?, variable: String?, flag: String?, value: Int
    ) throws {
        var (flags, environment): ([Setting: String], [String: String]) = ([:], [:])
        if let flag { flags[.maxQueue] = flag }
        if let variable { environment["ATTACHPREP_MAX_QUEUE"] = variable }
        let configuration = try read(file.map { "max-queue: \($0)" }, flags: flags, environment: environment)
        #expect(configuration.limits.queuedJobsMax == value)
    }

    @Test func `Texts, numbers, switches, durations, sizes and lists are read from the file`() throws {
        let configuration = try read(
            """
            # Comments and empty lines.
            base-url: https://m.example/p
            port: 9000
            https-only: yes
            retention: 2d
            media-quota: 2GB
            log-level: "debug"
            allow-callback-network:
              - 10.0.0.0/8
              - fd00::/8
            resolve: ["a:1:127.0.0.1", 'b:2:127.0.0.1']
            tokens: [an-old-token-for-tests]
            """)
        #expect(configuration.service.baseURL == "https://m.example/p" && configuration.service.port == 9000)
        #expect(configuration.preparer.download.httpsOnly && configuration.limits.retentionSeconds == 172_800)
        #expect(configuration.limits.mediaQuotaBytes == 2_000_000_000 && configuration.logLevel == .debug)
        #expect(configuration.callbackNetworks.map(\.description) == ["10.0.0.0/8", "fd00::/8"])
        #expect(configuration.preparer.download.resolveOverrides == ["a:1:127.0.0.1", "b:2:127.0.0.1"])
        #expect(configuration.tokens == ["an-old-token-for-tests"])
    }

    @Test func `The file can be named by a variable, and a file of comments is empty`() throws {
        let path = try folder.write("# Nothing yet.\n", to: "empty.yaml")
        #expect(try read(nil, environment: ["ATTACHPREP_CONFIG": path]).service.port == 8080)
        #expect(try read("").service.port == 8080)
        #expect(try read("---\n...\n").service.port == 8080)
    }

    @Test(arguments: [
        ("max-queu: 1", "max-queue"), ("maxqueue: 1", "max-queue"), ("Max_Queue: 1", "max-queue"),
        ("log-levle: info", "log-level"), ("tokenfile: /t", "token-file"), ("s3: x", "s3-endpoint"),
    ])
    func `An unknown key is an error with its line and the most similar key`(text: String, meant: String) {
        let shown = message("# One.\n\(text)\n")
        #expect(shown.contains("attachprep.yaml:2: Unknown key") && shown.contains("\"\(meant)\""), "\(shown)")
    }

    @Test func `An unknown key without a similar one, and config itself, are errors`() {
        #expect(message("telemetry-endpoints: 1").contains("Unknown key \"telemetry-endpoints\"."))
        #expect(message("config: other.yaml").contains("remove `config`"))
    }

    /// Each text, and what its message has.
    @Test(arguments: [
        ("port: 99999", ["99999", "port (", "attachprep.yaml:1)", "0 to 65535"]),
        ("\nport: many", ["many", "attachprep.yaml:2)", "whole number"]),
        ("retention: 1s", ["1s", "retention", "60s to 3650d"]),
        ("https-only: maybe", ["maybe", "https-only", "true or false"]),
        ("log-level: loud", ["loud", "log-level", "debug"]),
        ("port: [1, 2]", [":1: ", "\"port\" is a list"]),
        ("port: {a: 1}", [":1: ", "\"port\" has keys of its own"]),
        ("port:", [":1: ", "\"port\" has no value"]),
        ("port: ~", ["\"port\" has no value"]),
        ("resolve: a:1:127.0.0.1", ["\"resolve\" is not a list", "resolve: [one, other]"]),
        ("resolve: [[a]]", ["list \"resolve\" is not text"]),
        ("port: 1\nport: 2", ["attachprep.yaml:", "The file has the key \"port\" twice in one object"]),
        ("- port", ["not a list of keys and values"]),
        ("just words", ["not a list of keys and values"]),
        ("? [port]\n: 1", ["A key is not text"]),
        ("port: 1\n---\nport: 2", ["not valid YAML"]),
        ("port: [", ["not valid YAML"]),
        ("a: &b 1", ["attachprep.yaml:1: Anchors and aliases"]),
        ("proxy: 'it''s # & fine'\nport: *b", ["attachprep.yaml:2: Anchors and aliases"]),
        ("host: \"\\\\\"\nport: &b 1", ["attachprep.yaml:2: Anchors and aliases"]),
        ("host: a # \u{2028}port: &b 1", ["Anchors and aliases"]),
        ("host: [&b a, *b]", ["attachprep.yaml:1: Anchors and aliases"]),
        ("? &b a\n: 1", ["attachprep.yaml:1: Anchors and aliases"]),
        ("host: \0", ["not text in UTF-8"]),
    ])
    func `An invalid file is reported with what to do`(text: String, parts: [String]) {
        let shown = message(text)
        for part in parts { #expect(shown.contains(part), "\(shown)") }
    }

    @Test func `A text may contain & and * where YAML reads them as text`() throws {
        let configuration = try read("publish: s3://media\ns3-cache-control: \"*, a & b\" # & *\n")
        guard case .bucket(let settings) = configuration.preparer.publish else { return #expect(Bool(false)) }
        #expect(settings.cacheControl == "*, a & b")
    }

    @Test func `Files that stand for more than they are, or are nested deeply, are rejected`() {
        let levels = (1..<30).map { "l\($0): &l\($0) [*l\($0 - 1), *l\($0 - 1)]" }
        #expect(message((["l0: &l0 [x, x]"] + levels).joined(separator: "\n")).contains("Anchors"))
        #expect(message(String(repeating: "[", count: 100_000)).contains("not valid YAML"))
        let nested = (0..<700).map { String(repeating: " ", count: $0) + "host:\n" }.joined()
        #expect(message(nested).contains("levels"))
        #expect(message("resolve: [" + String(repeating: "a, ", count: 30_000) + "a]").contains("values"))
        #expect(message("host: " + String(repeating: "x", count: 300_000)).contains("is larger than 262144 bytes"))
    }

    @Test func `A missing file, a folder and a file of another encoding are reported with their path`() throws {
        func message(_ path: String) -> String {
            let error = #expect(throws: AttachPrepError.self) {
                try ServeConfiguration(flags: [.config: path], environment: ["HOME": "/home/push"])
            }
            return error?.message ?? ""
        }
        #expect(message("/none/attachprep.yaml").contains("/none/attachprep.yaml does not exist"))
        #expect(message(folder.path).contains("is a folder"))
        #expect(message("/dev/null").contains("is not a regular file"))
        let latin = folder.path("latin.yaml")
        try Data([0x68, 0x6f, 0x73, 0x74, 0x3a, 0x20, 0xe4]).write(to: URL(filePath: latin))
        #expect(message(latin).contains("not text in UTF-8"))
    }

    @Test func `No message contains a secret`() {
        for text in ["tokens: [short]", "queue-password: [hunter2]", "tokens: hunter2", "tokens: [[hunter2]]"] {
            let error = (try? read(text)).map { _ in "" } ?? message(text)
            #expect(!error.contains("hunter2"), "\(error)")
        }
    }
}

/// What `--print-config` shows.
struct PrintedConfigurationTests {
    private let folder: TemporaryFolder
    private let environment = ["HOME": "/home/push"]

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `Each setting is shown with its value and source`() throws {
        let path = try folder.write("# One.\nmax-queue: 5\nallow-callback-network: [10.0.0.0/8]\n", to: "a.yaml")
        let configuration = try ServeConfiguration(
            flags: [.config: path, .port: "9000"],
            environment: environment.merging(["ATTACHPREP_LOG_FORMAT": "json"]) { $1 })
        let lines = configuration.printed.split(separator: "\n").map(String.init)
        for line in [
            "host: 127.0.0.1  # default", "port: 9000  # --port", "max-queue: 5  # \(path):2",
            "allow-callback-network: [10.0.0.0/8]  # \(path):3", "log-format: json  # ATTACHPREP_LOG_FORMAT",
            "data: /home/push/.local/state/attachprep  # default", "https-only: false  # default",
            "# base-url:  # default: the listening address", "# tokens:  # not set", "# config: \(path)  # --config",
        ] {
            #expect(lines.contains(line), "\(line)\n\(configuration.printed)")
        }
        #expect(lines.count == Setting.allCases.count + 1)
    }

    @Test func `Secrets and credentials in URLs are hidden`() throws {
        let configuration = try ServeConfiguration(
            flags: [:],
            environment: environment.merging([
                "ATTACHPREP_TOKENS": "an-old-token-for-tests", "ATTACHPREP_PROXY": "http://me:hunter2@proxy:3128",
                "ATTACHPREP_WEBHOOK_SECRETS": "whsec_hunter2", "ATTACHPREP_PUBLISH": "s3://media",
                "ATTACHPREP_QUEUE": "postgres://me@a,b/push",
                "ATTACHPREP_QUEUE_KEY_FILE": try folder.write("k1:\(Data(count: 32).base64EncodedString())", to: "key"),
            ]) { $1 })
        let text = configuration.printed
        #expect(!text.contains("hunter2") && !text.contains("an-old"), "\(text)")
        #expect(text.contains("# tokens: (hidden)  # ATTACHPREP_TOKENS\n"))
        #expect(text.contains("# queue: postgres://a,b/push (credentials hidden)  # ATTACHPREP_QUEUE\n"), "\(text)")
        #expect(text.contains("# proxy: http://proxy:3128 (credentials hidden)  # ATTACHPREP_PROXY\n"), "\(text)")
    }

    @Test func `The output is a configuration file with the same values`() throws {
        let values: [Setting: String] = [
            .s3CacheControl: "no-store, \"x\" \\ \u{1}: #&*", .publish: "s3://media/push", .host: "::1",
            .resolve: "a:1:127.0.0.1,b:2:[::1]", .drain: "1.5s", .logLevel: "info",
        ]
        let first = try ServeConfiguration(flags: values, environment: environment)
        let path = try folder.write(first.printed + "\n", to: "printed.yaml")
        let second = try ServeConfiguration(flags: [.config: path], environment: environment)
        for (setting, text) in values { #expect(second.values[setting]?.text == text) }
        #expect(second.service.host == "::1" && second.drainSeconds == 1.5)
        #expect(second.limits == first.limits && second.dataFolder == first.dataFolder)
    }

    @Test func `The example file has each key once, and its defaults are those of the program`() throws {
        let path = SourceTree.path("deploy/attachprep.yaml")
        #expect(throws: Never.self) { try ServeConfiguration(flags: [.config: path], environment: environment) }
        let example = try String(contentsOfFile: path, encoding: .utf8)
        let keys = example.split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }.map { String($0.dropFirst()) }
        #expect(
            keys.map { String($0.prefix { $0 != ":" }) }.sorted()
                == Setting.allCases.filter(\.isFileKey)
                .map(\.key).sorted())
        let given = keys.filter { !$0.contains("<") }
        #expect(given.count >= 20)
        let file = try folder.write(given.joined(separator: "\n"), to: "defaults.yaml")
        let (with, without) = (
            try ServeConfiguration(flags: [.config: file], environment: environment),
            try ServeConfiguration(flags: [:], environment: environment)
        )
        #expect(with.limits == without.limits && with.drainSeconds == without.drainSeconds)
        #expect(with.service.port == without.service.port && with.logLevel == without.logLevel)
    }
}
