import Foundation
import TestSupport

/// Tests that take longer than a developer waits.
enum LongTests {
    static let areWanted = ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil
}

/// A TCP port of 127.0.0.1 that refuses connections, or says one thing to everybody and hangs up.
final class RawPort: Sendable {
    let number: Int
    private let descriptor: Int32

    /// - Parameter greeting: what a client hears before it has said a word; nil refuses it.
    init(greeting: String?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, size) = (descriptor, length)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                // Bound and not listening: the kernel refuses who comes, and nobody else gets the port.
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw FactMissing(description: "no port could be bound") }
        number = Int(UInt16(bigEndian: address.sin_port))
        if let greeting { greet(with: greeting) }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    private func greet(with greeting: String) {
        let descriptor = descriptor
        listen(descriptor, 8)
        Thread.detachNewThread {
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                _ = Array(greeting.utf8).withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
                shutdown(client, Int32(SHUT_WR))
                // What the client says is read, so that closing does not reset what it has not read yet.
                var heard = [UInt8](repeating: 0, count: 4096)
                while read(client, &heard, heard.count) > 0 {}
                close(client)
            }
        }
    }
}

/// The samples over https, under a certificate for 127.0.0.1 that only its own file vouches for.
final class SecureServer: Sendable {
    /// The path of the certificate.
    let certificate: String
    private let folder: TemporaryFolder
    private let process: RunningCommand
    let port: Int

    init() async throws {
        folder = try TemporaryFolder()
        certificate = folder.path("certificate.pem")
        let key = folder.path("key.pem")
        let words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
        let made = try await RunCommand(
            "openssl",
            words.split(separator: " ").map(String.init)
                + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
        ).run()
        guard made.exitCode == 0 else { throw FactMissing(description: made.errorText) }
        let process = try RunCommand(
            "openssl", ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-WWW"],
            folder: SourceTree.path("samples/media")
        ).start()
        self.process = process
        try await waitUntil("openssl s_server says its port") { Self.port(of: process) != nil }
        port = Self.port(of: process) ?? 0
    }

    func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

    func stop() {
        process.send(SIGKILL)
    }

    /// "ACCEPT 127.0.0.1:40123"
    private static func port(of process: RunningCommand) -> Int? {
        guard let text = try? process.textSoFar(), let line = text.firstMatch(of: /ACCEPT .*:([0-9]+)\n/) else {
            return nil
        }
        return Int(line.1)
    }
}
