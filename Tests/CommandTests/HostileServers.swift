import Foundation
import TestSupport

/// Tests that run only in `make test-long`.
enum LongTests {
    static let areEnabled = ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil
}

/// A TCP port of 127.0.0.1 that refuses connections, or sends a fixed text and closes.
final class RawPort: Sendable {
    let number: Int
    private let descriptor: Int32

    /// - Parameter greeting: sent to each client before it sends anything; nil refuses connections.
    init(greeting: String?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, size) = (descriptor, length)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                // Bound and not listening: the kernel refuses connections, and no other process gets the port.
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw TestError(description: "no port could be bound") }
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
                // Reads the request, because closing with unread input would reset the connection.
                var received = [UInt8](repeating: 0, count: 4096)
                while read(client, &received, received.count) > 0 {}
                close(client)
            }
        }
    }
}

/// Serves the samples over https with a self-signed certificate for 127.0.0.1.
final class SecureServer: Sendable {
    /// The path of the certificate, for `--ca-file`.
    let certificate: String
    private let folder: TemporaryFolder
    private let process: RunningCommand
    let port: Int

    init() async throws {
        folder = try TemporaryFolder()
        certificate = folder.path("certificate.pem")
        let key = folder.path("key.pem")
        let arguments = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
        let made = try await RunCommand(
            "openssl",
            arguments.split(separator: " ").map(String.init)
                + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
        ).run()
        guard made.exitCode == 0 else { throw TestError(description: made.errorText) }
        let process = try RunCommand(
            "openssl", ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-WWW"],
            folder: SourceTree.path("samples/media")
        ).start()
        self.process = process
        try await waitUntil("openssl s_server prints its port") { Self.port(of: process) != nil }
        port = Self.port(of: process) ?? 0
    }

    func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

    func stop() {
        process.send(SIGKILL)
    }

    /// The port in a line such as "ACCEPT 127.0.0.1:40123".
    private static func port(of process: RunningCommand) -> Int? {
        guard let text = try? process.textSoFar(), let line = text.firstMatch(of: /ACCEPT .*:([0-9]+)\n/) else {
            return nil
        }
        return Int(line.1)
    }
}
