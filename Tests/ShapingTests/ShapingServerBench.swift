import Foundation
import TestSupport

/// The real server, serving files or relaying to another server, with curl as the client.
final class ShapingServerBench: Sendable {
    let folder: TemporaryFolder
    let server: RunningCommand
    private let port: String

    /// - Parameter network: fast by default, since most tests check what arrives, not when.
    init(
        files: [String: [UInt8]] = [:], origin: LoopbackServer? = nil, network: String = "1000000,2",
        _ options: [String] = []
    ) async throws {
        folder = try TemporaryFolder()
        let root = try folder.makeFolder("root")
        for (name, bytes) in files { try folder.write(bytes, to: "root/\(name)") }
        try folder.write("secret", to: "secret.txt")
        try FileManager.default.createSymbolicLink(
            atPath: root + "/way-out.txt", withDestinationPath: folder.path("secret.txt"))
        let source = origin.map { ["--upstream", "http://127.0.0.1:\($0.port)"] } ?? ["--root", root]
        let server = try RunCommand(
            BuiltBinary.shapingServer(), source + ["--listen", "\(network)=0"] + options, timeoutSeconds: 120
        ).start()
        self.server = server
        try await waitUntil("the server prints its port") { (try? server.textSoFar())?.hasSuffix("\n") == true }
        port = String(try server.textSoFar().dropLast().split(separator: ":").last ?? "")
    }

    deinit {
        server.send(SIGTERM)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// curl's exit code and the body it received.
    func fetch(_ path: String, _ options: [String] = []) async throws -> CommandResult {
        try await RunCommand("curl", ["-s", "--path-as-is", "--max-time", "50"] + options + [url(path)]).run()
    }

    /// The lines of the response head.
    func head(_ path: String, _ options: [String] = []) async throws -> [String] {
        try await fetch(path, ["-D", "-", "-o", "/dev/null"] + options).text
            .split(separator: "\r\n").map(String.init)
    }

    /// Pseudorandom bytes, so that a wrong order is detected.
    static func bytes(_ count: Int) -> [UInt8] {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }
}
