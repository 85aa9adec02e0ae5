import Foundation
import Shaping

/// The command line of the server.
struct ServerOptions {
    private(set) var listeners: [ShapedListener] = []
    private(set) var wantsHelp = false

    /// What a command line says that cannot be done.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    static let help = """
        ShapingServer (--root DIR | --upstream http://127.0.0.1:PORT) (--network NETWORK | --listen NETWORK=PORT)...

        Listens on loopback; every connection is a phone of its own on the network of its port. Prints a line a port,
        `NETWORK 127.0.0.1:PORT`, when all of them listen. SIGTERM ends it.

          --root DIR            serve the files of a folder (GET, HEAD, Range, ETag)
          --upstream URL        relay each connection, byte for byte, to a server on loopback
          --network NETWORK     3g, lte, wifi, or kilobits a second and milliseconds of a round trip: 40000,20
          --listen NETWORK=PORT the same at a port; 0 takes a free one; may be given several times
          --round-trips N       until an answer begins on a new connection: 2 are connection and request, TLS 1.3 adds 1
                                (default 2; what is relayed makes the round trips of its own TLS by itself)
          --shared              all connections of a port share one link, as the phones of a cell do
          --stall-after BYTES   nothing more arrives after so many bytes of a connection, headers included
          --cut-after BYTES     the connection is gone after so many
          --connections N       at most so many at a time; more are hung up on (default 1024)

        Uplinks have a quarter of the rate. There is no slow start and no loss: times are those of DESIGN's table,
        round trips and bytes over rate.
        """

    init(_ arguments: [String]) throws {
        var words = OptionWords(arguments)
        var ports: [(LinkProfile, Int)] = []
        var source: ShapedListener.Source?
        var (roundTrips, isShared, fate, connections) = (2, false, ConnectionFate.none, 1_024)
        while let word = words.next() {
            switch word {
            case "--help", "-h": wantsHelp = true
            case "--root": source = try Self.folder(words.value(of: word))
            case "--upstream": source = try Self.origin(words.value(of: word))
            case "--network": ports.append((try Self.network(words.value(of: word)), 0))
            case "--listen": ports.append(try Self.port(words.value(of: word)))
            case "--round-trips": roundTrips = try words.number(of: word, 1...20)
            case "--shared": isShared = true
            case "--stall-after": fate = .stall(afterBytes: try words.number(of: word, 1...Int.max))
            case "--cut-after": fate = .cut(afterBytes: try words.number(of: word, 1...Int.max))
            case "--connections": connections = try words.number(of: word, 1...10_000)
            default: throw Fault(description: "\(word) is not an option; --help lists them")
            }
        }
        guard !wantsHelp else { return }
        guard let source else { throw Fault(description: "--root or --upstream is needed") }
        guard !ports.isEmpty else { throw Fault(description: "--network or --listen is needed") }
        let count = ConnectionCount(max: connections)
        listeners = ports.map { profile, port in
            var listener = ShapedListener(profile, port: port, source: source, connections: count)
            (listener.roundTrips, listener.isShared, listener.fate) = (roundTrips, isShared, fate)
            return listener
        }
    }

    private static func network(_ text: String) throws -> LinkProfile {
        guard let profile = LinkProfile(text) else {
            throw Fault(description: "\(text) is no network; use 3g, lte, wifi or KBIT,MILLISECONDS")
        }
        return profile
    }

    private static func port(_ text: String) throws -> (LinkProfile, Int) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = UInt16(parts[1]) else {
            throw Fault(description: "--listen \(text): use NETWORK=PORT, as 3g=0")
        }
        return (try network(String(parts[0])), Int(port))
    }

    private static func folder(_ path: String) throws -> ShapedListener.Source {
        guard let folder = ServedFolder(path) else { throw Fault(description: "\(path) is no folder") }
        return .folder(folder)
    }

    private static func origin(_ text: String) throws -> ShapedListener.Source {
        guard let url = URLComponents(string: text), url.scheme == "http", let port = url.port,
            let host = url.host, ["127.0.0.1", "localhost"].contains(host)
        else { throw Fault(description: "--upstream \(text): use http://127.0.0.1:PORT") }
        return .origin(host: "127.0.0.1", port: port)
    }
}

/// The words of a command line, one after the other.
struct OptionWords {
    private var words: ArraySlice<String>

    init(_ words: [String]) {
        self.words = words[...]
    }

    mutating func next() -> String? { words.popFirst() }

    mutating func value(of option: String) throws -> String {
        guard let value = words.popFirst() else { throw ServerOptions.Fault(description: "\(option) needs a value") }
        return value
    }

    mutating func number(of option: String, _ range: ClosedRange<Int>) throws -> Int {
        let text = try value(of: option)
        guard let number = Int(text), range.contains(number) else {
            throw ServerOptions.Fault(
                description: "\(option) \(text): use a number of \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
