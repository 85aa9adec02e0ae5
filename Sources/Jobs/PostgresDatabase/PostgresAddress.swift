internal import AttachPrepModel
internal import CPostgres
internal import Foundation
internal import Glibc
internal import SafeArithmetic

/// The address of a database: libpq's URL, without a password.
///
/// ```swift
/// let address = try PostgresAddress("postgres://queue@db1,db2/push?sslmode=verify-full")
/// print(address)  // queue@db1,db2/push
/// ```
///
/// libpq adds what its environment variables (`PGPASSFILE`, `PGSSLMODE` …) and a service file say.
public struct PostgresAddress: Sendable, Hashable, CustomStringConvertible {
    struct Parameter: Sendable, Hashable {
        var keyword: String
        var value: String
    }

    /// What the URL says and the defaults that it does not replace.
    private let parameters: [Parameter]
    /// The file with the authorities that may sign the server's certificate; nil when libpq looks for its own.
    public let rootCertificateFile: String?
    /// User, hosts and database.
    public let description: String

    /// - Parameters:
    ///   - url: `postgres://` or `postgresql://`, with the parameters of libpq:
    ///     https://www.postgresql.org/docs/15/libpq-connect.html
    ///   - environment: variables that replace the defaults of this type; those of this process if nil.
    /// - Throws: `AttachPrepError`, code `request.invalid`, for a URL that libpq rejects or that has a password.
    public init(_ url: String, environment: [String: String]? = nil) throws {
        try self.init(url, environment: environment ?? ProcessInfo.processInfo.environment) { path in
            unsafe access(path, R_OK) == 0
        }
    }

    init(_ url: String, environment: [String: String], isReadable: (String) -> Bool) throws {
        guard Self.schemes.contains(where: url.hasPrefix) else {
            throw AttachPrepError(.requestInvalid, "The database must be a URL such as postgres://user@host/database.")
        }
        let given = try Self.parsed(url)
        func value(_ keyword: String, variable: String) -> String? {
            given.first { $0.keyword == keyword }?.value ?? environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        }
        if given.contains(where: { ["password", "sslpassword"].contains($0.keyword) }) {
            throw AttachPrepError(
                .requestInvalid,
                "The URL of the database must not have a password, which others could read; "
                    + "set PGPASSFILE, PGPASSWORD or a service file.")
        }
        rootCertificateFile = Self.rootCertificateFile(
            sslmode: value("sslmode", variable: "PGSSLMODE"), given: value("sslrootcert", variable: "PGSSLROOTCERT"),
            home: environment["HOME"], isReadable)
        description = Self.description(given)

        var parameters = given
        func setUnlessGiven(_ keyword: String, variable: String, chosen: String) {
            if value(keyword, variable: variable) == nil {
                parameters.append(Parameter(keyword: keyword, value: chosen))
            }
        }
        let hosts = value("host", variable: "PGHOST") ?? value("hostaddr", variable: "PGHOSTADDR") ?? ""
        if hosts.contains(",") || value("service", variable: "PGSERVICE") != nil {
            setUnlessGiven("target_session_attrs", variable: "PGTARGETSESSIONATTRS", chosen: "read-write")
        }
        setUnlessGiven("fallback_application_name", variable: "", chosen: "attachprep")
        setUnlessGiven("connect_timeout", variable: "PGCONNECT_TIMEOUT", chosen: "5")
        // A dead peer is noticed within about 15 s, also on an idle connection.
        setUnlessGiven("keepalives_idle", variable: "", chosen: "5")
        setUnlessGiven("keepalives_interval", variable: "", chosen: "3")
        setUnlessGiven("keepalives_count", variable: "", chosen: "3")
        setUnlessGiven("tcp_user_timeout", variable: "", chosen: "15000")
        if let rootCertificateFile {
            parameters.removeAll { $0.keyword == "sslrootcert" }
            parameters.append(Parameter(keyword: "sslrootcert", value: rootCertificateFile))
        }
        // Text goes through SQL as UTF-8, whatever the environment says.
        parameters.removeAll { $0.keyword == "client_encoding" }
        parameters.append(Parameter(keyword: "client_encoding", value: "UTF8"))
        self.parameters = parameters
    }

    private static let schemes = ["postgres://", "postgresql://"]

    /// What `PQconnectdbParams` gets.
    func connectionParameters() -> [Parameter] { parameters }

    /// Whether several hosts are given.
    private static func parsed(_ url: String) throws -> [Parameter] {
        var text: UnsafeMutablePointer<CChar>?
        let list = unsafe PQconninfoParse(url, &text)
        defer {
            unsafe PQfreemem(text)
            unsafe PQconninfoFree(list)
        }
        guard var option = unsafe list else {
            // libpq's text repeats parts of the URL, which may be a password.
            let mayHoldPassword = url.lowercased().contains("password") || url.contains("@")
            let detail = unsafe text.map { unsafe String(cString: $0) } ?? ""
            throw AttachPrepError(
                .requestInvalid,
                "The URL of the database is malformed: it is postgres://user@host/database?name=value.",
                detail: mayHoldPassword ? nil : MessageText.excerpt(detail))
        }
        var parameters: [Parameter] = []
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                parameters.append(
                    Parameter(keyword: unsafe String(cString: keyword), value: unsafe String(cString: value)))
            }
            unsafe option = unsafe option.advanced(by: 1)
        }
        return parameters
    }

    /// Authorities of the system, where Debian and Red Hat keep them.
    private static let systemCertificateFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    ]

    /// libpq 15 has no authorities unless a file is named: those of the system serve where a certificate is verified.
    private static func rootCertificateFile(
        sslmode: String?, given: String?, home: String?, _ isReadable: (String) -> Bool
    ) -> String? {
        let isVerified = sslmode == "verify-full" || sslmode == "verify-ca"
        let system = systemCertificateFiles.first(where: isReadable)
        // libpq 16 knows this name.
        if given == "system" { return system }
        if let given { return given }
        guard isVerified else { return nil }
        if let own = home.map({ "\($0)/.postgresql/root.crt" }), isReadable(own) { return own }
        return system
    }

    private static func description(_ parameters: [Parameter]) -> String {
        func value(_ keyword: String) -> String? { parameters.first { $0.keyword == keyword }?.value }
        let hosts = (value("host") ?? value("hostaddr") ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let ports = (value("port") ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let places = hosts.indices.map { index in
            let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            return port.isEmpty ? "\(hosts[index])" : "\(hosts[index]):\(port)"
        }
        var text = value("user").map { "\($0)@" } ?? ""
        text += places.joined(separator: ",")
        if let name = value("dbname") { text += "/\(name)" }
        if let service = value("service") { text += "\(text.isEmpty ? "" : " ")service \(service)" }
        return MessageText.excerpt(text.isEmpty ? "postgres://" : text)
    }
}
