import Foundation

/// A TLS server on loopback that serves a folder: a third-party program, to test interoperability.
public final class TLSFileServer: Sendable {
    public enum Kind: Sendable {
        /// `openssl s_server`: HTTP/1.0, one connection at a time.
        case http1
        /// `nghttpd`: HTTP/2.
        case http2
    }

    /// The served folder; files may be added while it runs.
    public let folder: TemporaryFolder
    public let port: Int
    private let command: RunningCommand

    /// - Parameter options: further arguments for `openssl s_server`.
    public init(
        _ kind: Kind, as identity: TestCertificates.Identity = .trusted, _ options: [String] = []
    ) throws {
        folder = try TemporaryFolder()
        port = try LoopbackSocket.freePort()
        let certificates = try TestCertificates.shared
        let (certificate, key) = (certificates.certificateFile(identity), certificates.keyFile(identity))
        switch kind {
        case .http1:
            let chain = certificates.chainFile(identity).map { ["-cert_chain", $0] } ?? []
            let arguments =
                ["s_server", "-WWW", "-accept", "127.0.0.1:\(port)", "-cert", certificate, "-key", key] + chain
                + options
            command = try RunCommand("openssl", arguments, folder: folder.path).start()
        case .http2:
            let arguments = ["--address=127.0.0.1", "-d", folder.path, String(port), key, certificate]
            command = try RunCommand("nghttpd", arguments).start()
        }
        try command.waitUntilListening(port: port)
    }

    deinit {
        command.send(SIGKILL)
    }

    public func url(_ path: String, host: String = "127.0.0.1") -> String { "https://\(host):\(port)\(path)" }
}

extension RunningCommand {
    /// Waits until this program listens on its port.
    func waitUntilListening(port: Int) throws {
        let limit = Date(timeIntervalSinceNow: 20)
        let pause = NSCondition()
        while !LoopbackSocket.accepts("127.0.0.1", port: port) {
            guard Date() < limit else {
                throw CommandError(description: "no server listens on port \(port): \(try errorTextSoFar())")
            }
            pause.withLock { _ = pause.wait(until: Date(timeIntervalSinceNow: 0.01)) }
        }
    }
}
