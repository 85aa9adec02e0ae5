internal import CNATS

package struct NATSSettings: Sendable, Hashable {
    package enum Identity: Sendable, Hashable {
        case anonymous
        case user(String, password: String)
        case token(String)
        /// The path of a file with a user's seed (`SU…`) and its public key (`U…`).
        case nkey(seedFile: String, publicKey: String)
        /// The path of a credentials file: a JWT and a seed.
        case credentials(file: String)
    }

    package struct TLS: Sendable, Hashable {
        /// The path of a PEM file with trusted certificates; nil trusts those of the system.
        package var authorityFile: String?
        /// The path of the client certificate (PEM); nil sends none.
        package var certificateFile: String?
        /// The path of the client certificate's key (PEM).
        package var keyFile: String?

        package init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
            self.authorityFile = authorityFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// Addresses, each `nats://host:port`. One server of a cluster is enough: the others are discovered.
    package var servers: [String]
    /// The connection's name in the servers' reports.
    package var name: String
    package var identity: Identity
    /// Nil connects without TLS unless the servers require it.
    package var tls: TLS?
    /// The longest wait for the answer to a request.
    package var requestTimeout: Duration
    /// The oldest server version to send messages to; nil accepts any.
    package var minimumVersion: NATSServerVersion?
    /// Whether the other servers of a cluster are discovered; otherwise only `servers` are used.
    package var discoversServers = true

    /// The address of another server, with the user and password of the first address in `servers`.
    package func address(like other: String) -> String {
        guard let first = servers.first, let at = first.lastIndex(of: "@"), let start = first.firstRange(of: "://"),
            let scheme = other.firstRange(of: "://")
        else { return other }
        return String(other[..<scheme.upperBound] + first[start.upperBound...at] + other[scheme.upperBound...])
    }

    package static func withoutCredentials(_ address: String) -> String {
        guard let at = address.lastIndex(of: "@"), let scheme = address.firstRange(of: "://") else { return address }
        return String(address[..<scheme.upperBound] + address[address.index(after: at)...])
    }

    package init(
        servers: [String], name: String = "attachprep", identity: Identity = .anonymous, tls: TLS? = nil,
        requestTimeout: Duration = .seconds(5)
    ) {
        self.servers = servers
        self.name = name
        self.identity = identity
        self.tls = tls
        self.requestTimeout = requestTimeout
    }
}

/// The settings in the form of the client library; owns a `natsOptions`.
///
/// C: `natsOptions_Create` and its setters, which copy their arguments.
@safe final class NATSOptions {
    let handle: OpaquePointer

    init(_ settings: NATSSettings) throws(NATSError) {
        var handle: OpaquePointer?
        try unsafe natsOptions_Create(&handle).check("create options")
        guard let handle = unsafe handle else {
            throw NATSError.library(code: 0, operation: "create options", text: "out of memory")
        }
        unsafe self.handle = handle
        try setServers(settings.servers)
        try unsafe natsOptions_SetName(handle, settings.name).check("set the connection's name")
        try setIdentity(settings.identity)
        if let tls = settings.tls { try setTLS(tls) }
        try unsafe natsOptions_SetIgnoreDiscoveredServers(handle, !settings.discoversServers)
            .check("set server discovery")
        try setTimeouts()
    }

    deinit {
        unsafe natsOptions_Destroy(handle)
    }

    private func setServers(_ servers: [String]) throws(NATSError) {
        let status = unsafe withCStrings(servers) { pointers in
            var pointers = unsafe pointers
            return unsafe natsOptions_SetServers(handle, &pointers, CInt(pointers.count))
        }
        try status.check("set servers")
    }

    private func setIdentity(_ identity: NATSSettings.Identity) throws(NATSError) {
        switch identity {
        case .anonymous: break
        case .user(let user, let password):
            try unsafe natsOptions_SetUserInfo(handle, user, password).check("set user")
        case .token(let token):
            try unsafe natsOptions_SetToken(handle, token).check("set token")
        case .nkey(let seedFile, let publicKey):
            try unsafe natsOptions_SetNKeyFromSeed(handle, publicKey, seedFile).check("set nkey")
        case .credentials(let file):
            try unsafe natsOptions_SetUserCredentialsFromFiles(handle, file, nil).check("set credentials")
        }
    }

    private func setTLS(_ tls: NATSSettings.TLS) throws(NATSError) {
        try unsafe natsOptions_SetSecure(handle, true).check("set TLS")
        if let file = tls.authorityFile {
            try unsafe natsOptions_LoadCATrustedCertificates(handle, file).check("load trusted certificates")
        }
        if let certificate = tls.certificateFile, let key = tls.keyFile {
            try unsafe natsOptions_LoadCertificatesChain(handle, certificate, key).check("load the client certificate")
        }
    }

    /// Sets timeouts so that a lost server is detected within 10 s, and reconnects without limit. Requests are written
    /// at once; otherwise a thread of the library collects them for 1 ms.
    private func setTimeouts() throws(NATSError) {
        try unsafe natsOptions_SetTimeout(handle, 2_000).check("set the connect timeout")
        try unsafe natsOptions_SetPingInterval(handle, 3_000).check("set the ping interval")
        try unsafe natsOptions_SetMaxPingsOut(handle, 2).check("set the maximum of unanswered pings")
        try unsafe natsOptions_SetMaxReconnect(handle, -1).check("set the maximum of reconnects")
        try unsafe natsOptions_SetReconnectWait(handle, 200).check("set the reconnect wait")
        try unsafe natsOptions_SetReconnectJitter(handle, 100, 100).check("set the reconnect jitter")
        try unsafe natsOptions_SetSendAsap(handle, true).check("set immediate sending")
        try unsafe natsOptions_SetWriteDeadline(handle, 5_000).check("set the write timeout")
    }
}

private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
    func next(_ rest: ArraySlice<String>, _ pointers: [UnsafePointer<CChar>?]) -> Result {
        guard let first = rest.first else { return unsafe body(pointers) }
        return unsafe first.withCString { pointer in unsafe next(rest.dropFirst(), pointers + [pointer]) }
    }
    return unsafe next(strings[...], [])
}
