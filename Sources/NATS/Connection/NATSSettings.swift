/// How the servers are reached, and as whom.
package struct NATSSettings: Sendable, Hashable {
    /// Who we are.
    package enum Identity: Sendable, Hashable {
        case nobody
        case user(String, password: String)
        case token(String)
        /// The path of a file with a user's seed (`SU…`) and its public key (`U…`).
        case nkey(seedFile: String, publicKey: String)
        /// The path of a credentials file: a JWT and a seed.
        case credentials(file: String)
    }

    /// How the servers' certificates are checked, and what we show of our own.
    package struct TLS: Sendable, Hashable {
        /// The path of a PEM file to trust; nil trusts what the system trusts.
        package var authorityFile: String?
        /// The paths of our certificate and its key, as PEM; nil shows none.
        package var certificateFile: String?
        package var keyFile: String?

        package init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
            self.authorityFile = authorityFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// `nats://host:port` each: any of a cluster will do, the others are found.
    package var servers: [String]
    /// What the servers call this connection in their own reports.
    package var name: String
    package var identity: Identity
    /// Nil speaks plain text unless the servers want TLS.
    package var tls: TLS?
    /// How long the servers may take to answer a request.
    package var answerTime: Duration
    /// Nothing is sent to a server below it; nil takes any.
    package var leastVersion: NATSServerVersion?
    /// Whether the other servers of a cluster are found; else only those that are named are used.
    package var discoversServers = true

    /// Another server's address, with the user and the password that the first of ours names.
    package func address(like other: String) -> String {
        guard let first = servers.first, let at = first.lastIndex(of: "@"), let start = first.firstRange(of: "://"),
            let scheme = other.firstRange(of: "://")
        else { return other }
        // Bounded: texts, not numbers.
        return String(other[..<scheme.upperBound] + first[start.upperBound...at] + other[scheme.upperBound...])
    }

    package init(
        servers: [String], name: String = "attachprep", identity: Identity = .nobody, tls: TLS? = nil,
        answerTime: Duration = .seconds(5)
    ) {
        self.servers = servers
        self.name = name
        self.identity = identity
        self.tls = tls
        self.answerTime = answerTime
    }
}
