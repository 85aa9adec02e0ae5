package import NATS
import RichPush

/// The NATS servers that a queue of several machines is on.
public struct QueueServers: Sendable, Hashable {
    package var settings: NATSSettings
    /// What the names of streams, buckets and subjects begin with: letters, digits, `-` and `_`.
    package var prefix = "attachprep"
    /// Servers that keep a copy of everything; nil takes three from a cluster and one from a server alone.
    package var replicas: Int?

    /// Whether servers below `leastVersion` are taken, at the operator's risk.
    package var allowsDivergingServer = false

    /// The least nats-server that jobs are kept on.
    ///
    /// On older ones the copies of a stream diverge when servers are killed one after another, though all of them are
    /// reported as current: a leader counts a refused change that names a revision, and a follower may take it. 2.11.0
    /// lets one change of a subject through at a time (nats-server#6194); 2.11.5 mends two more ways, after a catch-up
    /// from a former leader (#6943, #6944). Measured with compare-and-set changes while three servers were killed in
    /// turn, twelve kills a run: the copies differed after 4 of 4 runs on 2.9.10, and after none of three runs each on
    /// 2.10.26, 2.11.0, 2.11.4, 2.11.11 and 2.12.8.
    package static let leastVersion = NATSServerVersion(2, 11, 5)

    /// `leastVersion`, as help and documents have it.
    public static let leastVersionText = "\(leastVersion)"

    /// How they are connected to.
    var checkedSettings: NATSSettings {
        var checked = settings
        checked.leastVersion = allowsDivergingServer ? nil : Self.leastVersion
        return checked
    }

    package init(_ settings: NATSSettings) {
        self.settings = settings
    }

    /// - Parameter text: `nats://host[:port]`, or several of them with commas between, of which only the first needs
    ///   its scheme; `tls://` speaks TLS.
    /// - Throws: `request.invalid`.
    package init(_ text: String) throws {
        var servers: [String] = []
        var usesTLS = false
        // A letter that joins the one before it would hide a colon or an at sign; names of hosts have no such letters.
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let (scheme, place) = Self.split(part)
            usesTLS = usesTLS || scheme == "tls"
            guard isPlain, Self.isPlace(place) else {
                throw AttachPrepError(
                    .requestInvalid, "A server of the queue is written as nats://host or nats://host:4222.")
            }
            servers.append("\(scheme)://\(place)")
        }
        settings = NATSSettings(servers: servers)
        if usesTLS { settings.tls = NATSSettings.TLS() }
    }

    /// Whether a text means servers at all.
    package static func isMeant(by text: String) -> Bool { text.hasPrefix("nats://") || text.hasPrefix("tls://") }

    /// Whether servers are named together with who we are.
    package var namesIdentity: Bool { settings.servers.contains { $0.contains("@") } }

    // MARK: Who we are

    package mutating func come(as user: String, password: String) {
        settings.identity = .user(user, password: password)
    }

    package mutating func come(with token: String) { settings.identity = .token(token) }

    /// - Parameter seed: what is in that file.
    /// - Throws: `request.invalid` when that is no seed.
    package mutating func come(withSeed seed: String, in file: String) throws {
        settings.identity = .nkey(seedFile: file, publicKey: try NKeySeed(seed).publicKey)
    }

    package mutating func come(withCredentials file: String) { settings.identity = .credentials(file: file) }

    /// Speaks TLS, if there is anything to say about it.
    ///
    /// - Parameters:
    ///   - authority: the path of a PEM file to trust.
    ///   - certificate: the paths of our own and of its key.
    package mutating func secure(authority: String?, certificate: (file: String, key: String)?) {
        guard settings.tls != nil || authority != nil || certificate != nil else { return }
        settings.tls = NATSSettings.TLS(
            authorityFile: authority, certificateFile: certificate?.file, keyFile: certificate?.key)
    }

    private static func split(_ part: Substring) -> (scheme: String, place: Substring) {
        for scheme in ["nats", "tls"] where part.hasPrefix("\(scheme)://") {
            return (scheme, part.dropFirst(scheme.utf8.count + 3))
        }
        return ("nats", part)
    }

    private static func isPlace(_ place: Substring) -> Bool {
        let address = place.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        var (host, port) = (address, Substring("4222"))
        if address.hasPrefix("["), let end = address.firstIndex(of: "]") {
            (host, port) = (address[...end], address[address.index(after: end)...])
            guard port.isEmpty || port.hasPrefix(":") else { return false }
            port = port.isEmpty ? "4222" : port.dropFirst()
        } else if let colon = address.firstIndex(of: ":") {
            (host, port) = (address[..<colon], address[address.index(after: colon)...])
        }
        let isName = !host.isEmpty && !host.contains { "/?#".contains($0) }
        return isName && (1...65_535).contains(Int(port) ?? 0)
    }
}

extension QueueServers: CustomStringConvertible {
    /// Without who we are.
    public var description: String {
        settings.servers.map { server in
            guard let at = server.lastIndex(of: "@"), let scheme = server.firstRange(of: "://") else { return server }
            // Bounded: texts, not numbers.
            return String(server[..<scheme.upperBound] + server[server.index(after: at)...])
        }.joined(separator: ",")
    }
}
