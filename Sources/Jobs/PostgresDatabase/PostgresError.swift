internal import MediaTypes
internal import SQLStore
internal import SafeArithmetic

/// What went wrong with a connection or a statement, before it is known what that means for a transaction.
enum PostgresError: Error, Hashable {
    /// No connection could be made.
    case notConnected(ConnectFailure)
    /// The connection was lost or ended because of an invalid or late answer; with the server's last error, if it sent
    /// one.
    case lost(String, ServerError?)
    /// The server rejected a statement; the connection can still be used.
    case server(ServerError)
}

/// An error of the server, without parameters and rows: its fields DETAIL, CONTEXT and QUERY are dropped.
struct ServerError: Hashable {
    /// Five characters: https://www.postgresql.org/docs/current/errcodes-appendix.html
    var state: String
    /// The server's primary message, cut; it names tables and constraints, and may name a value of a wrong type.
    var text: String

    var detail: String { "SQLSTATE \(state): \(text)" }
}

/// Why no connection could be made, as far as libpq's text tells.
struct ConnectFailure: Hashable {
    enum Reason: Hashable, CaseIterable {
        case refused, timedOut, unknownHost, certificate, password, noDatabase, noRole, full, starting, readOnly
        case notAllowed, other
    }

    var reason: Reason
    /// libpq's text; it names hosts and the user, never a password.
    var text: String

    init(_ whole: String, needsPassword: Bool = false) {
        // A hostile server's message has up to 30 KB.
        let text = String(decoding: whole.utf8.prefix(Limits.errorTextBytesMax * 8), as: UTF8.self)
        self.text = libraryText(text)
        reason = needsPassword ? .password : Self.reason(in: text)
    }

    /// With several hosts, the text has a line for each: what is more than a dead host counts.
    ///
    /// A server that was set to another language than English sends other texts: `other`.
    private static func reason(in text: String) -> Reason {
        let phrases: [(String, Reason)] = [
            ("session is read-only", .readOnly), ("hot standby", .readOnly), ("starting up", .starting),
            ("shutting down", .starting), ("not accept", .starting), ("too many connections", .full),
            ("remaining connection slots", .full), ("no more connections allowed", .full),
            ("password authentication failed", .password), ("no password supplied", .password),
            ("no pg_hba.conf entry", .notAllowed), ("SSL SYSCALL", .other), ("closed unexpectedly", .other),
            ("certificate", .certificate), ("SSL", .certificate), ("could not translate host name", .unknownHost),
            ("timeout expired", .timedOut), ("timed out", .timedOut), ("Connection refused", .refused),
            ("No such file or directory", .refused),
        ]
        if let match = phrases.first(where: { text.contains($0.0) }) { return match.1 }
        guard text.contains("does not exist") else { return .other }
        return text.contains("database \"") ? .noDatabase : .noRole
    }

    /// Whether waiting may help: everything but settings.
    var isRetryable: Bool {
        switch reason {
        case .certificate, .password, .noDatabase, .noRole, .notAllowed: false
        default: true
        }
    }

    /// What failed and what to do, as the rest of a sentence that names the database.
    var remedy: String {
        switch reason {
        case .refused: "nothing accepts connections there; start PostgreSQL or correct the host and port"
        case .timedOut: "it did not answer in time; check the network, the firewall and the server"
        case .unknownHost: "the host name does not resolve; correct the name or the DNS"
        case .certificate: "TLS failed; check sslmode, sslrootcert and the server's certificate"
        case .password: "the password is missing or wrong; set PGPASSFILE, PGPASSWORD or a service file"
        case .noDatabase: "there is no such database; create it or correct its name"
        case .noRole: "there is no such role; create it or correct the user name"
        case .full: "it has no connection left; raise max_connections or use PgBouncer"
        case .starting: "it is starting or stopping; it is tried again"
        case .readOnly: "it accepts no changes (a standby); wait for a promotion or name all hosts"
        case .notAllowed: "pg_hba.conf does not allow this connection; add a line for it"
        case .other: "the connection failed; attachprep doctor shows the reason"
        }
    }
}

/// A text of libpq or the server for a detail: cut, its lines joined, without the server's DETAIL, which may repeat
/// values, and what follows it.
func libraryText(_ text: String) -> String {
    var isDetail = false
    let lines = text.utf8.prefix(Limits.errorTextBytesMax * 8).split(separator: UInt8(ascii: "\n")).filter { line in
        if ["DETAIL:", "CONTEXT:"].contains(where: { line.starts(with: $0.utf8) }) { isDetail = true }
        // With several hosts, the next one.
        if line.starts(with: "connection to server".utf8) { isDetail = false }
        return !isDetail
    }.map { String(decoding: $0.drop { $0 == UInt8(ascii: "\t") }, as: UTF8.self) }
    return MessageText.excerpt(lines.joined(separator: "; "), bytesMax: Limits.errorTextBytesMax)
}

extension Limits {
    /// Bytes of a text of libpq or the server in a detail.
    static let errorTextBytesMax = 500
}

// MARK: What it means for a transaction

extension PostgresError {
    /// How far the transaction was when the error occurred.
    enum Phase: Hashable {
        /// COMMIT was not sent.
        case open
        /// COMMIT was sent, and its result did not arrive.
        case committing
    }

    /// The error for the store.
    func meaning(_ phase: Phase, database: String) -> SQLError {
        switch self {
        case .notConnected(let failure):
            return SQLError(
                .unavailable, "The database \(database) cannot be reached: \(failure.remedy).", detail: failure.text)
        case .lost(let text, let error):
            let detail = [text, error?.detail].compactMap(\.self).joined(separator: "; ")
            if phase == .committing {
                return SQLError(
                    .unknownCommit, "The connection to the database \(database) was lost during a commit.",
                    detail: detail)
            }
            return SQLError(
                .disconnected, "The connection to the database \(database) was lost; it is opened again.",
                detail: detail)
        case .server(let error):
            return error.meaning(database: database)
        }
    }
}

extension ServerError {
    func meaning(database: String) -> SQLError {
        let (kind, sentence) = classification
        return SQLError(kind, "The database \(database) \(sentence).", detail: detail)
    }

    private var classification: (SQLError.Kind, String) {
        switch state {
        case "40001", "40P01": (.conflict, "chose this change as the victim of a conflict; it is repeated")
        case "55P03": (.conflict, "did not get a lock in time; the change is repeated")
        case "25006": (.unavailable, "accepts no changes (it is a standby or read-only); wait for a promotion")
        case "53100": (.unavailable, "has no disk space; free some on its server")
        case "53200": (.unavailable, "has no memory; see its server's log")
        case "53300": (.unavailable, "has no connection left; raise max_connections or use PgBouncer")
        case "58030": (.unavailable, "cannot read or write its files; see its server's log")
        case "57P01", "57P02", "57P03", "57P04", "57P05":
            (.unavailable, "is starting, stopping or restarting; try again")
        case "57014": (.unavailable, "canceled a statement that took too long; see its server's load")
        case "42501": (.rejected, "denied a permission; grant it or use the role that owns the schema")
        case "42P01", "42703", "3F000":
            (.rejected, "lacks a table or column of the queue; run `attachprep jobs migrate`")
        default: (.rejected, "rejected a statement (SQLSTATE \(state))")
        }
    }

    /// Whether another server has to be found: this one was demoted.
    var endsConnection: Bool { state == "25006" }
}
