#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The sockets that libcurl was given: lives on the loop's thread.
///
/// While a request is being prepared libcurl names its connection by addresses and ports alone.
final class OpenSockets {
    /// libcurl closes them without a word; what was closed is no match for any connection, or is here again.
    private var descriptors: Set<CInt> = []

    func add(_ descriptor: CInt) {
        descriptors.insert(descriptor)
    }

    /// The socket between two ports; nil when none of them is.
    func find(localPort: Int32, remotePort: Int32) -> CInt? {
        descriptors.first { descriptor in
            unsafe Self.port(of: descriptor) { unsafe getsockname($0, $1, $2) } == localPort
                && Self.port(of: descriptor) { unsafe getpeername($0, $1, $2) } == remotePort
        }
    }

    private typealias Question = (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt

    private static func port(of descriptor: CInt, _ ask: Question) -> Int32? {
        var name = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe ask(descriptor, $0, &length) }
        }
        // Both families have their port in the same place.
        return status == 0 ? Int32(UInt16(bigEndian: name.sin6_port)) : nil
    }
}
