#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// An address of either family, as a number.
package enum IPAddress: Hashable, Sendable {
    case v4(UInt32)
    case v6(UInt128)

    /// Reads the usual spelling (dotted quad, or colons without brackets); a zone after `%` is left out.
    ///
    /// Other spellings of IPv4 (decimal, octal, hexadecimal, short) are not addresses here: `WebAddress` has turned
    /// them into dotted quads before.
    package init?(_ text: String) {
        let text = String(text.prefix { $0 != "%" })
        var four = in_addr()
        var six = in6_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr))
        } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            self = unsafe withUnsafeBytes(of: &six) { bytes in
                // Bounded: sixteen bytes.
                .v6(unsafe bytes.reduce(0) { $0 << 8 | UInt128($1) })
            }
        } else {
            return nil
        }
    }
}

extension IPAddress {
    var isIPv4: Bool {
        if case .v4 = self { true } else { false }
    }
}

extension IPAddress: CustomStringConvertible {
    /// The usual spelling, without brackets.
    package var description: String {
        switch self {
        case .v4(let number):
            return stride(from: 24, through: 0, by: -8).map { String(number >> $0 & 0xff) }.joined(separator: ".")
        case .v6(let number):
            var address = in6_addr()
            unsafe withUnsafeMutableBytes(of: &address) { bytes in
                // Bounded: below 16.
                for index in 0..<16 { unsafe bytes[index] = UInt8(truncatingIfNeeded: number >> (120 - 8 * index)) }
            }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            // Cannot fail: the family is known and the buffer is as long as the longest spelling.
            _ = unsafe inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    /// As it stands in an address of the web and in CURLOPT_RESOLVE: IPv6 in brackets.
    package var bracketed: String {
        switch self {
        case .v4: description
        case .v6: "[\(description)]"
        }
    }
}
