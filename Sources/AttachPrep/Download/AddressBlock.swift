public import RichPush

/// Some addresses in a row, as an operator writes them: `10.2.0.0/16`, `fd12::/48`, or one address alone.
///
/// IPv4 inside IPv6 (`::ffff:10.2.0.1`) is IPv4 here, on both sides: it reaches the same machines.
public struct AddressBlock: Sendable, Hashable {
    private let first: IPAddress
    private let prefixBits: Int

    /// - Throws: `request.invalid`, with the reason in words.
    public init(_ text: String) throws(AttachPrepError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // A zone names a network card, not a network.
        guard parts.count <= 2, !text.contains("%"), let written = IPAddress(parts[0]) else {
            throw .addressBlock(text, "is no address block such as 10.2.0.0/16 or fd12::/48")
        }
        let bitsMax = written.isIPv4 ? 32 : 128
        guard let bits = parts.count == 1 ? bitsMax : Self.number(parts[1]), bits <= bitsMax else {
            throw .addressBlock(text, "has no prefix length from 0 to \(bitsMax) behind its slash")
        }
        // Where IPv4 begins inside IPv6.
        let isMapped = !written.isIPv4 && bits >= 96 && written.unmapped.isIPv4
        // Bounded: 96 to 128 bits here.
        (first, prefixBits) = isMapped ? (written.unmapped, bits - 96) : (written, bits)
        guard first.masked(prefixBits) == first else {
            throw .addressBlock(
                text, "has bits set behind its prefix; did you mean \(first.masked(prefixBits))/\(bits)")
        }
    }

    /// Whether an address lies in it.
    package func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return address.isIPv4 == first.isIPv4 && address.masked(prefixBits) == first
    }

    /// Digits alone: a sign or a space is a slip.
    private static func number(_ text: String) -> Int? {
        // Bounded: digits, into an optional.
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(text) : nil
    }
}

extension AddressBlock: CustomStringConvertible {
    public var description: String { "\(first)/\(prefixBits)" }
}

extension IPAddress {
    /// IPv4 where it is written inside IPv6 (RFC 4291, 2.5.5.2).
    var unmapped: IPAddress {
        guard case .v6(let number) = self, number >> 32 == 0xffff else { return self }
        return .v4(UInt32(truncatingIfNeeded: number))
    }

    /// Its first bits; the others are zero.
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
    fileprivate static func addressBlock(_ text: String, _ fault: String) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid, "The network \"\(text.prefix(64))\" \(fault); correct --allow-callback-network.")
    }
}
