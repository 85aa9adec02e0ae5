import Foundation
import TestSupport
import Testing

/// `tools/fake-apns` on loopback, with its keys, and the requests that it has received.
struct FakeAPNs: Sendable {
    let folder: TemporaryFolder
    let url: String
    private let running: RunningCommand

    /// - Parameters:
    ///   - answers: what it answers instead of 200, by device: the JSON of `--answers`.
    ///   - delaySeconds: until each answer, so that requests are in progress together.
    static func start(answers: String = "{}", delaySeconds: Double = 0.02) async throws -> FakeAPNs {
        let folder = try TemporaryFolder()
        let running = try RunCommand(
            SourceTree.path("tools/fake-apns/run"),
            [
                folder.path, "--answers", try folder.write(answers, to: "answers.json"),
                "--delay", "\(delaySeconds)",
            ], timeoutSeconds: 300
        ).start()
        try await waitUntil("the fake APNs listens", seconds: 120) {
            !running.isRunning || (try? running.textSoFar().hasSuffix("\n")) == true
        }
        let output = try running.textSoFar()
        let errors = try running.errorTextSoFar()
        let url = try #require(output.split(separator: "\n").first, "make deps-test installs it: \(errors)")
        return FakeAPNs(folder: folder, url: String(url), running: running)
    }

    /// Ends it and returns what it has received.
    func stop() async throws -> [Arrival] {
        running.send(SIGTERM)
        _ = try await running.result()
        return try String(contentsOfFile: folder.path("arrived.jsonl"), encoding: .utf8)
            .split(separator: "\n").map { try JSONDecoder().decode(Arrival.self, from: Data($0.utf8)) }
    }

    /// What a sender needs to know: the key, its names, and the certificate to trust.
    var environment: [String: String?] {
        [
            "APNS_URL": url, "APNS_KEY": folder.path("AuthKey.p8"), "APNS_KEY_ID": "ABC123DEFG",
            "APNS_TEAM_ID": "DEF123GHIJ", "APNS_TOPIC": "com.example.app", "APNS_BACKOFF": "0.02",
            "SSL_CERT_FILE": folder.path("ca.pem"), "NODE_EXTRA_CA_CERTS": folder.path("ca.pem"),
        ]
    }
}

/// One request that arrived, and how it was answered.
struct Arrival: Decodable, Sendable {
    let connection: Int
    let inProgress: Int?
    let device: String?
    let headers: [String: String]?
    let payload: String?
    let bytes: Int?
    let status: Int?
    let reason: String?
    /// A rule of HTTP/2 that the sender broke.
    let violation: String?

    func header(_ name: String) -> String? { headers?[name] }

    /// The device and the collapse ID: one notification, however often it was sent.
    var notification: String { "\(device ?? "") \(header("apns-collapse-id") ?? "")" }

    /// The payload as an object.
    func object() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data((payload ?? "").utf8)) as? [String: Any])
    }
}

/// A sender of `samples/senders`.
enum SampleSender: String, CaseIterable, Sendable {
    case python = "send.py"
    case node = "send.mjs"
    case go = "send.go"

    /// The senders whose language is installed. APNSwift trusts the certificates of the system only, so the Swift
    /// sender cannot be run against the fake; see samples/senders/README.md.
    static let runnable = allCases.filter { $0 != .go || isInstalled("go") }

    static func isInstalled(_ program: String) -> Bool {
        let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    func command(_ arguments: [String], environment: [String: String?]) async throws -> RunCommand {
        let path = SourceTree.path("samples/senders/\(rawValue)")
        switch self {
        case .python:
            let install = try await RunCommand(SourceTree.path("tools/fake-apns/install"), timeoutSeconds: 300).run()
            let python = try #require(install.lines.last, "make deps-test: \(install.errorText)")
            return RunCommand(python, ["-B", path] + arguments, environment: environment)
        case .node: return RunCommand("node", [path] + arguments, environment: environment)
        case .go: return RunCommand("go", ["run", path] + arguments, environment: environment, timeoutSeconds: 150)
        }
    }
}
