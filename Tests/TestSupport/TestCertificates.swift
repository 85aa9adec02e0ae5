import Foundation

/// Certificates made by openssl for one run of the tests: an authority of our own, and what servers show.
public final class TestCertificates: Sendable {
    /// What a server shows of itself.
    public enum Identity: String, Sendable, CaseIterable {
        /// Signed by the authority, for 127.0.0.1, localhost and cdn.example.
        case trusted
        /// Signed by the authority, for another name.
        case wrongName
        /// Signed by nobody else.
        case selfSigned
    }

    /// Made once, by whoever asks first.
    public static var shared: TestCertificates { get throws { try made.get() } }

    private static let made = Result { try TestCertificates() }

    private let folder: TemporaryFolder

    /// The authority's certificate: what `--ca-file` takes.
    public var authorityFile: String { folder.path("authority.pem") }

    func certificateFile(_ identity: Identity) -> String { folder.path("\(identity.rawValue).pem") }

    func keyFile(_ identity: Identity) -> String { folder.path("\(identity.rawValue).key") }

    private init() throws {
        folder = try TemporaryFolder()
        try makeSelfSigned("authority", extension: "basicConstraints=critical,CA:TRUE")
        try makeSelfSigned(Identity.selfSigned.rawValue, extension: "subjectAltName=IP:127.0.0.1")
        try makeSigned(.trusted, names: "IP:127.0.0.1,DNS:localhost,DNS:cdn.example")
        try makeSigned(.wrongName, names: "DNS:other.test")
    }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private func makeSelfSigned(_ name: String, extension line: String) throws {
        try openssl(
            ["req", "-x509", "-days", "2", "-subj", "/CN=attachprep \(name)", "-addext", line] + Self.newKey
                + ["-keyout", folder.path("\(name).key"), "-out", folder.path("\(name).pem")])
    }

    private func makeSigned(_ identity: Identity, names: String) throws {
        let request = folder.path("\(identity.rawValue).csr")
        try openssl(
            ["req", "-subj", "/CN=attachprep server"] + Self.newKey + ["-keyout", keyFile(identity), "-out", request])
        let extensions = try folder.write("subjectAltName=\(names)\n", to: "\(identity.rawValue).ext")
        try openssl([
            "x509", "-req", "-days", "2", "-in", request, "-CA", authorityFile, "-CAkey", folder.path("authority.key"),
            "-CAcreateserial", "-extfile", extensions, "-out", certificateFile(identity),
        ])
    }

    private func openssl(_ arguments: [String]) throws {
        let result = try RunCommand("openssl", arguments).runBlocking()
        guard result.exitCode == 0 else { throw CommandFailure(description: "openssl: \(result.errorText)") }
    }
}
