import Foundation

/// A request as the loopback server read it.
public struct LoopbackRequest: Sendable {
    public let method: String
    /// As it stood in the request line, query included.
    public let target: String
    /// Names in lower case.
    public let headers: [String: String]
    /// As long as its Content-Length says; empty without one.
    public let body: Data
    /// 1 for the first request to this path, 2 for the second…
    public let number: Int
    /// Which connection it came over, from 1.
    public let connection: Int

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The first byte asked for by "Range: bytes=N-"; nil without such a header.
    public var rangeStart: Int? {
        guard let range = headers["range"], range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
        return Int(range.dropFirst(6).dropLast())
    }
}
