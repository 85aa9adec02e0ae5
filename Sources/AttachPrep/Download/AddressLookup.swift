#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The blocking question to the system: `getaddrinfo`.
enum AddressLookup {
    /// All addresses of a name, each once; blocks as long as the system likes.
    static func ask(_ host: String) -> Result<[IPAddress], NameResolutionError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else { return .failure(error(status)) }
        defer { unsafe freeaddrinfo(list) }
        let addresses = unsafe addresses(in: list)
        return addresses.isEmpty ? .failure(.unknownName) : .success(addresses)
    }

    private static func addresses(in list: UnsafeMutablePointer<addrinfo>?) -> [IPAddress] {
        var found: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe numeric(entry.pointee), !found.contains(address) { found.append(address) }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    private static func numeric(_ entry: addrinfo) -> IPAddress? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = unsafe getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        guard status == 0 else { return nil }
        return IPAddress(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    private static func error(_ status: Int32) -> NameResolutionError {
        let detail = unsafe gai_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
        return switch status {
        case EAI_NONAME, Self.noAddress: .unknownName
        case EAI_AGAIN: .temporary(detail: detail)
        default: .failed(detail: detail)
        }
    }

    /// EAI_NODATA, which glibc's header shows only to programs that define _GNU_SOURCE.
    private static let noAddress: Int32 = -5
}
