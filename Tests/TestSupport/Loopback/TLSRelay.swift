import Foundation

/// A TLS terminator in front of a loopback server: forwards bytes unchanged, whatever the protocol.
///
/// Uses Python's `ssl` module, since the tests link no TLS library.
public final class TLSRelay: Sendable {
    public let port: Int
    private let command: RunningCommand

    /// - Parameters:
    ///   - server: receives the decrypted bytes.
    ///   - protocols: offered by ALPN, for example "h2".
    public init(
        to server: LoopbackServer, protocols: [String], as identity: TestCertificates.Identity = .trusted
    ) throws {
        port = try LoopbackSocket.freePort()
        let certificates = try TestCertificates.shared
        let arguments =
            [
                "-c", Self.program, String(port), String(server.port), certificates.certificateFile(identity),
                certificates.keyFile(identity),
            ] + protocols
        command = try RunCommand("python3", arguments).start()
        try command.waitUntilListening(port: port)
    }

    deinit {
        command.send(SIGKILL)
    }

    public func url(_ path: String, host: String = "127.0.0.1") -> String { "https://\(host):\(port)\(path)" }

    /// Closes and resets are forwarded from one side to the other.
    private static let program = """
        import select, socket, ssl, struct, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
        if sys.argv[5:]:
            context.set_alpn_protocols(sys.argv[5:])
        def carry(secure, behind):
            while True:
                ready = select.select([secure, behind], [], [])[0]
                if behind in ready:
                    piece = behind.recv(65536)
                    if not piece:
                        return
                    secure.settimeout(None)
                    secure.sendall(piece)
                if secure in ready:
                    secure.settimeout(0)
                    try:
                        piece = secure.recv(65536)
                    except ssl.SSLWantReadError:
                        continue
                    if not piece:
                        return
                    behind.sendall(piece)
        def serve(plain):
            try:
                secure = context.wrap_socket(plain, server_side=True)
            except OSError:
                plain.close()
                return
            behind = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
            try:
                carry(secure, behind)
            except ConnectionResetError:
                secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            except OSError:
                pass
            secure.close()
            behind.close()
        listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """
}
