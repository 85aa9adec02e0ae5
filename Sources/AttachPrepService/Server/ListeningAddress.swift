import Glibc
import RichPush

/// Where a service is reached when nobody says another address: where it listens.
enum ListeningAddress {
    /// As it is written in a URL: an IPv6 address stands in brackets (RFC 3986, 3.2.2).
    static func url(host: String, port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// The same settings, with the address they listen on as the base of all URLs; a free port gets its number here.
    ///
    /// A service that listens on every address knows none that others reach it by, and has no base.
    static func named(_ settings: ServiceSettings) throws -> ServiceSettings {
        var settings = settings
        guard !["0.0.0.0", "::", "*"].contains(settings.host) else { return settings }
        if settings.port == 0 { settings.port = try freePort() }
        settings.baseURL = url(host: settings.host, port: settings.port)
        return settings
    }

    /// A port that nobody listens on at this moment.
    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw unavailable(errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard unsafe bind(descriptor, generic, length) == 0 else { return errno }
                return unsafe getsockname(descriptor, generic, &length) == 0 ? 0 : errno
            }
        }
        guard code == 0 else { throw unavailable(code) }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func unavailable(_ code: CInt) -> AttachPrepError {
        AttachPrepError(
            .internal, "There is no free port to listen on; give one with --port.",
            detail: unsafe String(cString: strerror(code)))
    }
}
