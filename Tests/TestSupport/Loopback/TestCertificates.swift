import Foundation

/// Certificates made by openssl for one run of the tests: a test authority, and server and client certificates.
public final class TestCertificates: Sendable {
    /// The certificate that a server presents.
    public enum Identity: String, Sendable, CaseIterable {
        /// Signed by the authority, for 127.0.0.1, localhost and cdn.example.
        case trusted
        /// Signed by the authority, for another name.
        case wrongName
        /// Self-signed.
        case selfSigned
        /// Signed by the authority, valid until the year 2001.
        case expired
        /// Signed by the authority, valid from the year 2049.
        case notYetValid
        /// Signed by an authority that is not trusted.
        case unknownAuthority
        /// Signed by an intermediate authority whose certificate is sent too.
        case withIntermediate
        /// The same, without the intermediate certificate.
        case withoutIntermediate
        /// Signed by the authority, for clients only.
        case forClients
        /// Signed by the authority, with a 1,024-bit RSA key, which was deprecated in 2013.
        case weakKey
        /// Valid, with a chain of a thousand unneeded certificates.
        case giantChain
    }

    /// Made once, by the first call.
    public static var shared: TestCertificates { get throws { try made.get() } }

    private static let made = Result { try TestCertificates() }

    private let folder: TemporaryFolder

    /// The authority's certificate, for `--ca-file`.
    public var authorityFile: String { folder.path("authority.pem") }

    func certificateFile(_ identity: Identity) -> String { folder.path("\(identity.rawValue).pem") }

    func keyFile(_ identity: Identity) -> String {
        [.selfSigned, .weakKey].contains(identity) ? folder.path("\(identity.rawValue).key") : folder.path("server.key")
    }

    /// The certificate chain that is sent; nil for the certificate alone.
    func chainFile(_ identity: Identity) -> String? {
        switch identity {
        case .withIntermediate: folder.path("intermediate.pem")
        case .giantChain: folder.path("chain.pem")
        default: nil
        }
    }

    private init() throws {
        folder = try TemporaryFolder()
        try makeSelfSigned("authority", extension: "basicConstraints=critical,CA:TRUE")
        try makeSelfSigned("unknown", extension: "basicConstraints=critical,CA:TRUE")
        try makeSelfSigned(Identity.selfSigned.rawValue, extension: "subjectAltName=IP:127.0.0.1")
        try makeRequest("server", Self.newKey)
        try makeRequest("intermediate", Self.newKey)
        try makeRequest("weakKey", ["-newkey", "rsa:1024", "-nodes"])
        try sign("intermediate", "intermediate", "basicConstraints=critical,CA:TRUE")
        try sign("trusted")
        try sign("wrongName", "server", "subjectAltName=DNS:other.test")
        try sign("expired", from: "20000101000000Z", to: "20010101000000Z")
        try sign("notYetValid", from: "20490101000000Z", to: "20500101000000Z")
        try sign("unknownAuthority", by: "unknown")
        try sign("withIntermediate", by: "intermediate")
        try sign("withoutIntermediate", by: "intermediate")
        try sign("forClients", "server", "\(Self.names)\nextendedKeyUsage=clientAuth")
        try sign("weakKey", "weakKey")
        try sign("giantChain")
        let spare = try folder.bytes(of: "authority.pem")
        try folder.write(Array(repeatElement(spare, count: 1_000).joined()), to: "chain.pem")
    }

    private static let names = "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:cdn.example"

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private func makeSelfSigned(_ name: String, extension line: String) throws {
        try openssl(
            ["req", "-x509", "-days", "2", "-subj", "/CN=attachprep \(name)", "-addext", line] + Self.newKey
                + ["-keyout", folder.path("\(name).key"), "-out", folder.path("\(name).pem")])
    }

    private func makeRequest(_ name: String, _ key: [String]) throws {
        try openssl(
            ["req", "-subj", "/CN=attachprep \(name)"] + key
                + ["-keyout", folder.path("\(name).key"), "-out", folder.path("\(name).csr")])
    }

    /// Uses `openssl ca`, because `openssl x509` cannot set the start of validity.
    private func sign(
        _ name: String, _ request: String = "server", _ extensions: String = TestCertificates.names,
        by authority: String = "authority", from first: String? = nil, to last: String? = nil
    ) throws {
        try folder.write("", to: "\(name).index")
        let settings = try folder.write(
            """
            [ca]
            default_ca = this
            [this]
            database = \(folder.path("\(name).index"))
            new_certs_dir = \(folder.path)
            rand_serial = yes
            default_md = sha256
            default_days = 2
            policy = names
            x509_extensions = extensions
            [names]
            commonName = supplied
            [extensions]
            \(extensions)

            """, to: "\(name).settings")
        let dates = first.flatMap { first in last.map { ["-startdate", first, "-enddate", $0] } } ?? []
        try openssl(
            [
                "ca", "-batch", "-notext", "-config", settings, "-in", folder.path("\(request).csr"), "-cert",
                folder.path("\(authority).pem"), "-keyfile", folder.path("\(authority).key"), "-out",
                folder.path("\(name).pem"),
            ] + dates)
    }

    private func openssl(_ arguments: [String]) throws {
        let result = try RunCommand("openssl", arguments).runBlocking()
        guard result.exitCode == 0 else { throw CommandError(description: "openssl: \(result.errorText)") }
    }
}
