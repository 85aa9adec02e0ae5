internal import AttachPrepModel
internal import Curl
package import MediaTypes

/// Resolves a host name and checks all its addresses against the policy; one blocked address rejects the name.
struct HostResolver: Sendable {
    let resolver: any NameResolver
    let overrides: ResolveOverrides
    let addressPolicy: AddressPolicy
    let timeout: Duration

    /// - Throws: `source.address_blocked`, `download.dns`, `deadline.exceeded`, `TemporaryNameError`, and
    ///   `CancellationError`.
    func resolve(name host: String, _ port: Int, before deadline: ContinuousClock.Instant) async throws -> PinnedHost {
        let addresses = try await addresses(of: host, port: port, deadline: deadline)
        for address in addresses {
            if let range = addressPolicy.blockedRange(of: address) {
                throw AttachPrepError.blocked(host, address: address, range: range)
            }
        }
        let tried = [addresses.filter(\.isIPv4), addresses.filter { !$0.isIPv4 }]
            .flatMap { $0.prefix(Limits.addressesTriedMax) }
        return PinnedHost(host: host, port: port, addresses: addresses.filter { tried.contains($0) })
    }

    private func addresses(
        of host: String, port: Int, deadline: ContinuousClock.Instant
    ) async throws -> [IPAddress] {
        if let literal = IPAddress(host) { return [literal] }
        if let answer = overrides.addresses(of: host, port: port) { return answer }
        do {
            let answer = try await resolveAddresses(host, until: min(deadline, .now + timeout))
            guard !answer.isEmpty else { throw NameResolutionError.unknownName }
            return answer
        } catch is TimeoutError {
            if ContinuousClock.now >= deadline { throw AttachPrepError.deadlineExceeded(host) }
            throw AttachPrepError.resolutionTimedOut(host, limit: timeout)
        } catch let error as NameResolutionError {
            let failure = AttachPrepError.unresolved(host, error: error)
            if case .temporary = error { throw TemporaryNameError(error: failure) }
            throw failure
        }
    }

    private func resolveAddresses(_ host: String, until end: ContinuousClock.Instant) async throws -> [IPAddress] {
        try await withThrowingTaskGroup(of: [IPAddress].self) { group in
            group.addTask { try await resolver.addresses(of: host) }
            group.addTask {
                try await ContinuousClock().sleep(until: end)
                throw TimeoutError()
            }
            // The first to finish decides: the lookup or the timeout. The other one is cancelled.
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    private struct TimeoutError: Error {}
}

/// A temporary resolution error; another attempt may succeed.
struct TemporaryNameError: Error {
    let error: AttachPrepError
}

/// A host with its allowed addresses, given to libcurl so that it does no DNS lookup.
struct PinnedHost: Sendable, Hashable {
    let host: String
    let port: Int
    let addresses: [IPAddress]

    /// The CURLOPT_RESOLVE entry. The plus sign lets it expire; otherwise libcurl's DNS cache would grow without limit.
    var pin: String {
        "+\(host):\(port):" + addresses.map(\.bracketed).joined(separator: ",")
    }
}

/// Resolves a host name to addresses; tests replace it.
package protocol NameResolver: Sendable {
    /// All addresses of a name, in the order in which to try them.
    ///
    /// Must return soon after its task is cancelled, since timeouts cancel it.
    func addresses(of host: String) async throws -> [IPAddress]
}

/// Why a name could not be resolved.
package enum NameResolutionError: Error, Hashable, Sendable {
    /// The name does not exist or has no address.
    case unknownName
    /// The name servers were unreachable or failed temporarily.
    case temporary(detail: String)
    /// Any other `getaddrinfo` error.
    case failed(detail: String)
}

/// Fixed addresses for host names (`--resolve`), used instead of DNS.
struct ResolveOverrides: Sendable, Hashable {
    private var answers: [String: [IPAddress]] = [:]

    /// - Parameter entries: In curl's form, "host:port:address[,address]"; the host may be `*`, addresses may be in
    ///   brackets.
    /// - Throws: `request.invalid` for an entry of another form.
    init(_ entries: [String]) throws(AttachPrepError) {
        for entry in entries {
            // curl's "+" makes an entry expire; that has no meaning here, since nothing is cached.
            let text = entry.hasPrefix("+") ? entry.dropFirst() : entry[...]
            let parts = text.split(separator: ":", maxSplits: 2)
            guard parts.count == 3, let port = UInt16(parts[1]) else { throw Self.unreadable(entry) }
            let addresses = parts[2].split(separator: ",").map { IPAddress(String($0.trimming { "[]".contains($0) })) }
            guard !addresses.isEmpty, !addresses.contains(nil) else { throw Self.unreadable(entry) }
            answers[Self.key(String(parts[0]), port: Int(port))] = addresses.compactMap(\.self)
        }
    }

    /// The addresses for a host and port; nil without an entry.
    func addresses(of host: String, port: Int) -> [IPAddress]? {
        answers[Self.key(host, port: port)] ?? answers[Self.key("*", port: port)]
    }

    private static func key(_ host: String, port: Int) -> String { "\(host.lowercased()):\(port)" }

    private static func unreadable(_ entry: String) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid, "\"\(entry)\" is not of the form host:port:address[,address]; correct --resolve.")
    }
}

/// The proxy for all requests of a downloader.
struct ProxyServer: Sendable, Hashable {
    /// The proxy's URL as curl accepts it, with user info.
    let text: String
    let host: String
    /// The ports that curl may use: that of the URL or its scheme, and 1080, curl's default for a proxy without a port
    /// (443 for an https proxy).
    let ports: [Int]

    /// - Throws: `request.invalid` for an invalid URL.
    init(_ text: String) throws(AttachPrepError) {
        self.text = text
        do {
            let url = try CurlURL(parsing: text.contains("://") ? text : "http://\(text)")
            host = url.host
            ports = [url.port, 1080].filter { $0 > 0 }
        } catch {
            throw AttachPrepError(
                .requestInvalid, "The proxy URL is invalid; correct --proxy.", detail: error.description)
        }
    }
}

extension Limits {
    /// Addresses per name and family to which connections are tried; all addresses are checked by the policy.
    package static let addressesTriedMax = 4
}
