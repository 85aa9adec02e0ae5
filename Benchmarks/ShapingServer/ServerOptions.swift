import Foundation
import Shaping

/// The parsed command line of the server.
struct ServerOptions {
    private(set) var listeners: [ShapedListener] = []
    private(set) var wantsHelp = false

    /// An invalid command line.
    struct OptionError: Error, CustomStringConvertible {
        let description: String
    }

    static let help = """
        ShapingServer (--root DIR | --upstream http://127.0.0.1:PORT) (--network NETWORK | --listen NETWORK=PORT)...

        Listens on loopback and shapes every connection like that of a phone on the port's network. Prints one line per
        port, `NETWORK 127.0.0.1:PORT`, when all ports listen. SIGTERM ends the server.

          --root DIR            serve the files of a folder (GET, HEAD, Range, ETag)
          --upstream URL        relay each connection, byte for byte, to a server on loopback
          --network NETWORK     3g, lte, wifi, or kbit/s and round-trip milliseconds: 40000,20
          --listen NETWORK=PORT like --network, at a port; 0 selects a free one; may be repeated
          --round-trips N       round trips until a response begins on a new connection: 2 for connection and request;
                                TLS 1.3 adds 1 (default 2; relayed TLS makes its own round trips)
          --shared              all connections of a port share one link, like phones in one cell
          --stall-after BYTES   stall each connection after this many bytes, headers included
          --cut-after BYTES     close each connection after this many bytes, headers included
          --connections N       maximum number of simultaneous connections; further ones are closed (default 1024)

        The uplink has a quarter of the downlink's rate. There is no slow start and no packet loss: a transfer takes
        its round trips plus bytes divided by rate.
        """

    init(_ arguments: [String]) throws {
        var arguments = ArgumentReader(arguments)
        var ports: [(LinkProfile, Int)] = []
        var source: ShapedListener.Source?
        var (roundTrips, isShared, fault, connections) = (2, false, FaultInjection.none, 1_024)
        while let option = arguments.next() {
            switch option {
            case "--help", "-h": wantsHelp = true
            case "--root": source = try Self.folder(arguments.value(of: option))
            case "--upstream": source = try Self.origin(arguments.value(of: option))
            case "--network": ports.append((try Self.network(arguments.value(of: option)), 0))
            case "--listen": ports.append(try Self.port(arguments.value(of: option)))
            case "--round-trips": roundTrips = try arguments.number(of: option, 1...20)
            case "--shared": isShared = true
            case "--stall-after": fault = .stall(afterBytes: try arguments.number(of: option, 1...Int.max))
            case "--cut-after": fault = .cut(afterBytes: try arguments.number(of: option, 1...Int.max))
            case "--connections": connections = try arguments.number(of: option, 1...10_000)
            default: throw OptionError(description: "\(option): unknown option; --help lists the options")
            }
        }
        guard !wantsHelp else { return }
        guard let source else { throw OptionError(description: "--root or --upstream is required") }
        guard !ports.isEmpty else { throw OptionError(description: "--network or --listen is required") }
        let count = ConnectionLimit(max: connections)
        listeners = ports.map { profile, port in
            var listener = ShapedListener(profile, port: port, source: source, connections: count)
            (listener.roundTrips, listener.isShared, listener.fault) = (roundTrips, isShared, fault)
            return listener
        }
    }

    private static func network(_ text: String) throws -> LinkProfile {
        guard let profile = LinkProfile(text) else {
            throw OptionError(description: "\(text): unknown network; use 3g, lte, wifi or KBIT,MILLISECONDS")
        }
        return profile
    }

    private static func port(_ text: String) throws -> (LinkProfile, Int) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = UInt16(parts[1]) else {
            throw OptionError(description: "--listen \(text): use NETWORK=PORT, such as 3g=0")
        }
        return (try network(String(parts[0])), Int(port))
    }

    private static func folder(_ path: String) throws -> ShapedListener.Source {
        guard let folder = ServedFolder(path) else { throw OptionError(description: "\(path) is not a folder") }
        return .folder(folder)
    }

    private static func origin(_ text: String) throws -> ShapedListener.Source {
        guard let url = URLComponents(string: text), url.scheme == "http", let port = url.port,
            let host = url.host, ["127.0.0.1", "localhost"].contains(host)
        else { throw OptionError(description: "--upstream \(text): use http://127.0.0.1:PORT") }
        return .origin(host: "127.0.0.1", port: port)
    }
}

/// Reads command line arguments in order.
struct ArgumentReader {
    private var arguments: ArraySlice<String>

    init(_ arguments: [String]) {
        self.arguments = arguments[...]
    }

    mutating func next() -> String? { arguments.popFirst() }

    mutating func value(of option: String) throws -> String {
        guard let value = arguments.popFirst() else {
            throw ServerOptions.OptionError(description: "\(option) requires a value")
        }
        return value
    }

    mutating func number(of option: String, _ range: ClosedRange<Int>) throws -> Int {
        let text = try value(of: option)
        guard let number = Int(text), range.contains(number) else {
            throw ServerOptions.OptionError(
                description: "\(option) \(text): use a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
