import AttachPrepJobs
import AttachPrepModel
import Crypto
package import NATS
import RichPush
import SQLiteQueue

/// The NATS servers of a shared queue.
public struct QueueServers: Sendable, Hashable {
    package var settings: NATSSettings
    /// The prefix of all stream, bucket and subject names: letters, digits, `-` and `_`.
    package var prefix: String
    /// The number of servers with a copy of all data; nil means three in a cluster and one on a single server.
    package var replicas: Int?

    /// Whether servers below `minimumVersion` are accepted, at the operator's risk.
    package var allowsDivergingServer = false

    /// The oldest nats-server version that is accepted.
    ///
    /// On older versions the copies of a stream can diverge when servers are killed one after another, although all
    /// copies are reported as current: a leader counts a rejected change that names a revision, and a follower may
    /// apply it. 2.11.0 allows one change in flight per subject (nats-server#6194); 2.11.5 fixes two more causes, after
    /// a catch-up from a former leader (#6943, #6944). Measured with compare-and-set changes while three servers were
    /// killed in turn, twelve kills per run: the copies differed after 4 of 4 runs on 2.9.10, and after none of three
    /// runs each on 2.10.26, 2.11.0, 2.11.4, 2.11.11 and 2.12.8.
    package static let minimumVersion = NATSServerVersion(2, 11, 5)

    /// `minimumVersion` as text, for help and documents.
    public static let minimumVersionText = "\(minimumVersion)"
    /// The version of the NATS client library.
    public static var libraryVersion: String { NATSLibrary.version }

    /// The settings for a connection, with the minimum version.
    var checkedSettings: NATSSettings {
        var checked = settings
        checked.minimumVersion = allowsDivergingServer ? nil : Self.minimumVersion
        return checked
    }

    package init(_ settings: NATSSettings, prefix: String = "attachprep", replicas: Int? = nil) {
        self.settings = settings
        self.prefix = prefix
        self.replicas = replicas
    }

    /// Parses server addresses.
    ///
    /// - Parameter text: `nats://host[:port]`, or several addresses separated by commas, of which only the first needs
    ///   a scheme; `tls://` requires TLS.
    /// - Throws: `request.invalid`.
    package init(_ text: String) throws {
        var servers: [String] = []
        var usesTLS = false
        // A combining character would hide a colon or an at sign from a search; host names are ASCII.
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let (scheme, hostAndPort) = Self.split(part)
            usesTLS = usesTLS || scheme == "tls"
            guard isPlain, Self.isHostAndPort(hostAndPort) else {
                throw AttachPrepError(
                    .requestInvalid, "Invalid queue server; write it as nats://host or nats://host:4222.")
            }
            servers.append("\(scheme)://\(hostAndPort)")
        }
        self.init(NATSSettings(servers: servers, tls: usesTLS ? NATSSettings.TLS() : nil))
    }

    /// Whether a text begins with the scheme of a NATS address.
    package static func areNamed(by text: String) -> Bool { text.hasPrefix("nats://") || text.hasPrefix("tls://") }

    package var containsCredentials: Bool { settings.servers.contains { $0.contains("@") } }

    // MARK: Credentials

    package mutating func authenticate(as user: String, password: String) {
        settings.identity = .user(user, password: password)
    }

    package mutating func authenticate(with token: String) { settings.identity = .token(token) }

    /// - Parameter seed: the content of `file`.
    /// - Throws: `request.invalid` when it contains no valid user seed.
    package mutating func authenticate(withSeed seed: String, in file: String) throws {
        settings.identity = .nkey(seedFile: file, publicKey: try NKeySeed(seed).publicKey)
    }

    package mutating func authenticate(withCredentials file: String) { settings.identity = .credentials(file: file) }

    /// Sets the TLS files. Enables TLS if there are any.
    ///
    /// - Parameters:
    ///   - authority: the path of a PEM file with trusted certificates.
    ///   - certificate: the paths of the client certificate and of its key.
    package mutating func secure(authority: String?, certificate: (file: String, key: String)?) {
        guard settings.tls != nil || authority != nil || certificate != nil else { return }
        settings.tls = NATSSettings.TLS(
            authorityFile: authority, certificateFile: certificate?.file, keyFile: certificate?.key)
    }

    private static func split(_ part: Substring) -> (scheme: String, hostAndPort: Substring) {
        for scheme in ["nats", "tls"] where part.hasPrefix("\(scheme)://") {
            return (scheme, part.dropFirst(scheme.utf8.count + 3))
        }
        return ("nats", part)
    }

    private static func isHostAndPort(_ hostAndPort: Substring) -> Bool {
        let address = hostAndPort.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
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
    /// The addresses without credentials.
    public var description: String {
        settings.servers.map(NATSSettings.withoutCredentials).joined(separator: ",")
    }
}

/// The seed of a NATS user, from which the public key is derived. Its text is the base32 form of a prefix, the 32 bytes
/// of an Ed25519 private key, and a checksum.
///
/// https://docs.nats.io/running-a-nats-service/configuration/securing_nats/auth_intro/nkey_auth
package struct NKeySeed: Sendable {
    /// The public key: `U…`, 56 characters.
    package let publicKey: String

    /// - Parameter text: the content of a file with a line `SU…`; other lines are ignored.
    /// - Throws: `request.invalid` for a text without a valid user seed.
    package init(_ text: String) throws {
        let lines = text.split(whereSeparator: \.isWhitespace)
        guard let line = lines.first(where: { $0.hasPrefix("SU") }), let bytes = Self.bytes(line),
            bytes.count == 36, Self.checksum(bytes.dropLast(2)) == UInt16(bytes[34]) | UInt16(bytes[35]) << 8,
            bytes[0] & 0xF8 == Self.seedPrefix, (bytes[0] & 7) << 5 | bytes[1] >> 3 == Self.userPrefix,
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes[2..<34])
        else {
            throw AttachPrepError(.requestInvalid, "The file contains no valid seed of a NATS user; it begins with SU.")
        }
        let body = [Self.userPrefix] + key.publicKey.rawRepresentation
        let sum = Self.checksum(body[...])
        publicKey = Self.text(body + [UInt8(sum & 0xFF), UInt8(sum >> 8)])
    }

    /// The base32 values of `S` and `U`, in the upper five bits of a byte.
    private static let (seedPrefix, userPrefix): (UInt8, UInt8) = (18 << 3, 20 << 3)

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Decodes base32 (RFC 4648, section 6) without padding; nil for other characters.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 5 | UInt32(value)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    private static func text(_ bytes: [UInt8]) -> String {
        var (text, bits, count) = ([UInt8](), UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> UInt32(count) & 31)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// CRC-16/XMODEM.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in
                sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021
            }
        }
    }
}
