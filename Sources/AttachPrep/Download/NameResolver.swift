/// Turns a host name into addresses; the seam that tests replace.
package protocol NameResolver: Sendable {
    /// All addresses of a name, in the order in which they should be tried.
    ///
    /// Must end soon after its task is cancelled: that is how a time limit stops it.
    func addresses(of host: String) async throws -> [IPAddress]
}

/// Why a name has no addresses.
package enum NameResolutionError: Error, Hashable, Sendable {
    /// The name does not exist, or has no address.
    case unknownName
    /// The name servers could not be reached or were not able to say.
    case temporary(detail: String)
    /// Anything else that `getaddrinfo` says.
    case failed(detail: String)
}
