internal import CNATS

/// Settings as the client library wants them; owns a natsOptions.
///
/// C: `natsOptions_Create` and its setters, which copy what they are given.
@safe final class NATSOptions {
    let handle: OpaquePointer

    init(_ settings: NATSSettings) throws(NATSError) {
        var handle: OpaquePointer?
        try unsafe natsOptions_Create(&handle).check("create options")
        guard let handle = unsafe handle else {
            throw NATSError.library(code: 0, operation: "create options", text: "no memory")
        }
        unsafe self.handle = handle
        try setServers(settings.servers)
        try unsafe natsOptions_SetName(handle, settings.name).check("set the connection's name")
        try setIdentity(settings.identity)
        if let tls = settings.tls { try setTLS(tls) }
        try unsafe natsOptions_SetIgnoreDiscoveredServers(handle, !settings.discoversServers)
            .check("set the discovery of servers")
        try setManners()
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
        case .nobody: break
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
            try unsafe natsOptions_LoadCertificatesChain(handle, certificate, key).check("load our certificate")
        }
    }

    /// A server that is gone is noticed within ten seconds, and connected to again for ever. Each request is written at
    /// once: else a thread of the library collects them for a millisecond.
    private func setManners() throws(NATSError) {
        try unsafe natsOptions_SetTimeout(handle, 2_000).check("set the time for connecting")
        try unsafe natsOptions_SetPingInterval(handle, 3_000).check("set the ping interval")
        try unsafe natsOptions_SetMaxPingsOut(handle, 2).check("set the pings")
        try unsafe natsOptions_SetMaxReconnect(handle, -1).check("set reconnecting")
        try unsafe natsOptions_SetReconnectWait(handle, 200).check("set the wait between connections")
        try unsafe natsOptions_SetReconnectJitter(handle, 100, 100).check("set the jitter between connections")
        try unsafe natsOptions_SetSendAsap(handle, true).check("set sending at once")
        try unsafe natsOptions_SetWriteDeadline(handle, 5_000).check("set the time for writing")
    }
}

/// Calls with C strings that live as long as the call.
private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
    func next(_ rest: ArraySlice<String>, _ pointers: [UnsafePointer<CChar>?]) -> Result {
        guard let first = rest.first else { return unsafe body(pointers) }
        return unsafe first.withCString { pointer in unsafe next(rest.dropFirst(), pointers + [pointer]) }
    }
    return unsafe next(strings[...], [])
}
