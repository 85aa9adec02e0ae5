public import AttachPrepModel
internal import Glibc
import MediaTypes
internal import SafeArithmetic

/// An IPv4 or IPv6 address.
package enum IPAddress: Hashable, Sendable {
    case v4(UInt32)
    case v6(UInt128)

    /// Parses a dotted quad, or IPv6 without brackets; a zone after `%` is ignored.
    ///
    /// Nil for other spellings of IPv4 (decimal, octal, hexadecimal, short): `WebAddress` has normalized them to dotted
    /// quads.
    package init?(_ text: String) {
        let text = String(text.prefix { $0 != "%" })
        var four = in_addr()
        var six = in6_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr))
        } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            self = unsafe withUnsafeBytes(of: &six) { bytes in
                // Bounded: 16 bytes.
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
    /// The canonical text form, without brackets.
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
            // Cannot fail: the family is valid, and INET6_ADDRSTRLEN is the longest text.
            _ = unsafe inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    /// The form used in URLs and CURLOPT_RESOLVE: IPv6 in brackets.
    package var bracketed: String {
        switch self {
        case .v4: description
        case .v6: "[\(description)]"
        }
    }
}

/// A CIDR block such as `10.2.0.0/16` or `fd12::/48`, or a single address.
///
/// IPv4-mapped IPv6 (`::ffff:10.2.0.1`) counts as IPv4, both in the block and in addresses compared with it.
public struct AddressBlock: Sendable, Hashable {
    private let first: IPAddress
    private let prefixBits: Int

    /// - Throws: `request.invalid` with the reason.
    public init(_ text: String) throws(AttachPrepError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // A zone names a network interface, not a network.
        guard parts.count <= 2, !text.contains("%"), let written = IPAddress(parts[0]) else {
            throw .invalidAddressBlock(text, reason: "is not a CIDR block such as 10.2.0.0/16 or fd12::/48")
        }
        let bitsMax = written.isIPv4 ? 32 : 128
        guard let bits = parts.count == 1 ? bitsMax : Self.number(parts[1]), bits <= bitsMax else {
            throw .invalidAddressBlock(text, reason: "has no prefix length from 0 to \(bitsMax) after the slash")
        }
        // The embedded IPv4 address starts at bit 96.
        let isMapped = !written.isIPv4 && bits >= 96 && written.unmapped.isIPv4
        // Bounded: 96 to 128 bits here.
        (first, prefixBits) = isMapped ? (written.unmapped, bits - 96) : (written, bits)
        guard first.masked(prefixBits) == first else {
            throw .invalidAddressBlock(
                text, reason: "has bits set after its prefix; write \(first.masked(prefixBits))/\(bits)")
        }
    }

    package func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return address.isIPv4 == first.isIPv4 && address.masked(prefixBits) == first
    }

    /// Parses digits only; nil for a sign or a space.
    private static func number(_ text: String) -> Int? {
        // Bounded: `Int(_:)` returns nil for too many digits.
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(text) : nil
    }
}

extension AddressBlock: CustomStringConvertible {
    public var description: String { "\(first)/\(prefixBits)" }
}

extension IPAddress {
    /// The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2); any other address unchanged.
    var unmapped: IPAddress {
        guard case .v6(let number) = self, number >> 32 == 0xffff else { return self }
        return .v4(UInt32(truncatingIfNeeded: number))
    }

    /// The address with all but its first `bits` bits set to zero.
    fileprivate func masked(_ bits: Int) -> IPAddress {
        switch self {
        // Bounded: 0 to 32 bits; shifts do not trap.
        case .v4(let number): .v4((number >> (32 - bits)) << (32 - bits))
        // Bounded: 0 to 128 bits.
        case .v6(let number): .v6((number >> (128 - bits)) << (128 - bits))
        }
    }
}

extension AttachPrepError {
    fileprivate static func invalidAddressBlock(_ text: String, reason: String) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid,
            "The network \"\(MessageText.excerpt(text, bytesMax: 64))\" \(reason).")
    }
}
