internal import CCurl
internal import SafeArithmetic
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The sockets that libcurl was given and has not closed yet.
final class OpenSockets: Sendable {
    /// Opened and closed under the lock, so that no number is another file's by the time it is used.
    ///
    /// With the bytes that each has brought to transfers.
    private let descriptors = Mutex<[CInt: Int]>([:])

    func open(_ family: Int32, _ kind: Int32, _ transport: Int32) -> CInt {
        descriptors.withLock { descriptors in
            let descriptor = socket(family, kind, transport)
            if descriptor >= 0 { descriptors[descriptor] = 0 }
            return descriptor
        }
    }

    func close(_ descriptor: CInt) -> CInt {
        descriptors.withLock { descriptors in
            descriptors[descriptor] = nil
            return systemClose(descriptor)
        }
    }

    /// The connection between two ports; nil when it is not here.
    ///
    /// While a request is being prepared libcurl names its connection by addresses and ports alone.
    func find(localPort: Int32, remotePort: Int32) -> CInt? {
        descriptors.withLock { descriptors in
            descriptors.keys.first { descriptor in
                unsafe Self.port { unsafe getsockname(descriptor, $0, $1) } == localPort
                    && Self.port { unsafe getpeername(descriptor, $0, $1) } == remotePort
            }
        }
    }

    /// Whether a connection has something to say, or has ended.
    func hasInput(_ descriptor: CInt) -> Bool {
        descriptors.withLock { descriptors in
            var byte: UInt8 = 0
            guard descriptors[descriptor] != nil else { return true }
            return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0
        }
    }

    /// Takes note of bytes that a transfer got.
    func bring(_ bytes: Int, over descriptor: CInt) {
        descriptors.withLock { $0[descriptor] = $0[descriptor]?.adding(clamping: bytes) }
    }

    /// Connections of which libcurl has read so many times what they brought, and so much more.
    func wasteful(share: Int, bytesFree: Int) -> [CInt] {
        descriptors.withLock { descriptors in
            descriptors.filter {
                Int(clamping: CCurl_socket_bytes_read($0))
                    > $1.multiplied(clamping: share).adding(clamping: bytesFree)
            }.map(\.key)
        }
    }

    /// Bytes of each connection that libcurl has read so far.
    var bytesRead: [CInt: Int] {
        descriptors.withLock { descriptors in
            descriptors.keys.reduce(into: [:]) { $0[$1] = Int(clamping: CCurl_socket_bytes_read($1)) }
        }
    }

    /// Ends connections: libcurl reads their end. Those that are closed by now are left alone.
    func end(_ ended: some Sequence<CInt>) {
        descriptors.withLock { descriptors in
            // It fails for a connection that the other side has reset, which is the end as well.
            for descriptor in ended where descriptors[descriptor] != nil {
                _ = shutdown(descriptor, Int32(SHUT_RDWR))
            }
        }
    }

    /// Ends every connection.
    func endAll() {
        end(descriptors.withLock { Array($0.keys) })
    }

    private static func port(
        _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> Int32? {
        var name = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe ask($0, &length) }
        }
        // Both families have their port in the same place.
        // Bounded: 16 bits.
        return status == 0 ? Int32(UInt16(bigEndian: name.sin6_port)) : nil
    }
}

/// `close`, which is another name's method above.
private func systemClose(_ descriptor: CInt) -> CInt { close(descriptor) }
