internal import CNATS

/// The version of a NATS server, from the INFO at the start of a connection.
package struct NATSServerVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var major: Int
    package var minor: Int
    package var patch: Int

    package init(_ major: Int, _ minor: Int, _ patch: Int) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Parses `major.minor.patch`; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let major = parts[0], let minor = parts[1], let patch = parts[2] else { return nil }
        self.init(major, minor, patch)
    }

    /// The version of the connected server. The library can only compare versions, so each part is found by counting.
    init(of connection: OpaquePointer) {
        let first = Self.largest { unsafe CNATS_serverIsAtLeast(connection, $0, 0, 0) }
        let second = Self.largest { unsafe CNATS_serverIsAtLeast(connection, first, $0, 0) }
        let third = Self.largest { unsafe CNATS_serverIsAtLeast(connection, first, second, $0) }
        self.init(Int(first), Int(second), Int(third))
    }

    /// The highest part that is distinguished, so that a server with any version number costs at most 999 comparisons.
    private static let partMax: CInt = 999

    private static func largest(_ isAtLeast: (CInt) -> Bool) -> CInt {
        var part: CInt = 0
        while part < partMax, isAtLeast(part + 1) { part += 1 }
        return part
    }

    package var description: String { "\(major).\(minor).\(patch)" }

    package static func < (one: NATSServerVersion, other: NATSServerVersion) -> Bool {
        (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
    }
}

/// The NATS client library.
package enum NATSLibrary {
    /// Its version at run time.
    package static var version: String { unsafe String(cString: nats_GetVersion()) }
}
