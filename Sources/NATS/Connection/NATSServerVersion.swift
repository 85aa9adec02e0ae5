internal import CNATS

/// The version of a NATS server, as it announces it when a connection begins.
package struct NATSServerVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var major: Int
    package var minor: Int
    package var patch: Int

    package init(_ major: Int, _ minor: Int, _ patch: Int) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Nil for what is not three numbers with dots between.
    package init?(_ text: String) {
        // Bounded: text, which is nil where it is no number.
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let major = parts[0], let minor = parts[1], let patch = parts[2] else { return nil }
        self.init(major, minor, patch)
    }

    /// Of the server that a connection is to now. The library compares it with any other, but does not tell it.
    init(of connection: OpaquePointer) {
        let first = Self.largest { unsafe CNATS_serverIsAtLeast(connection, $0, 0, 0) }
        let second = Self.largest { unsafe CNATS_serverIsAtLeast(connection, first, $0, 0) }
        let third = Self.largest { unsafe CNATS_serverIsAtLeast(connection, first, second, $0) }
        self.init(Int(first), Int(second), Int(third))  // Bounded: at most partMax each.
    }

    /// A server may claim any number: nobody counts further than that.
    private static let partMax: CInt = 999

    private static func largest(_ isAtLeast: (CInt) -> Bool) -> CInt {
        var part: CInt = 0
        while part < partMax, isAtLeast(part + 1) { part += 1 }  // Bounded: at most partMax.
        return part
    }

    package var description: String { "\(major).\(minor).\(patch)" }

    package static func < (one: NATSServerVersion, other: NATSServerVersion) -> Bool {
        (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
    }
}
