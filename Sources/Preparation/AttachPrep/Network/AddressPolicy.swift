/// The IP addresses that a `Downloader` or an `HTTPClient` may connect to.
package struct AddressPolicy: Sendable, Hashable {
    /// Whether every address is allowed: the operator allows the private network, or a proxy filters addresses.
    package var isOpen: Bool
    /// Addresses allowed although `BlockedAddressRanges` lists them; for tests, whose servers listen on loopback.
    package var exempt: Set<IPAddress>
    /// Networks that the operator allows although `BlockedAddressRanges` lists them.
    package var networks: [AddressBlock]

    package init(isOpen: Bool = false, exempt: Set<IPAddress> = [], networks: [AddressBlock] = []) {
        self.isOpen = isOpen
        self.exempt = exempt
        self.networks = networks
    }

    /// The range that blocks an address; nil when it is allowed.
    package func blockedRange(of address: IPAddress) -> BlockedAddressRange? {
        if isOpen || exempt.contains(address) || networks.contains(where: { $0.contains(address) }) { return nil }
        return BlockedAddressRanges.blockedRange(for: address)
    }

    /// Whether a textual address is allowed; invalid text is allowed only by an open policy.
    func allows(_ text: String) -> Bool {
        guard let address = IPAddress(text) else { return isOpen }
        return blockedRange(of: address) == nil
    }
}

/// A range of addresses that is blocked by default.
package struct BlockedAddressRange: Hashable, Sendable {
    /// The use of the range, for messages.
    package let name: String
    /// The RFC or other reason for blocking it.
    package let reason: String
    package let first: IPAddress
    /// The length of the prefix in bits.
    package let prefixBits: Int

    /// - Parameter block: A prefix in CIDR notation, such as "10.0.0.0/8".
    init(_ block: StaticString, _ name: String, _ reason: String) {
        let parts = block.description.split(separator: "/")
        guard parts.count == 2, let first = IPAddress(String(parts[0])), let bits = Int(parts[1]) else {
            preconditionFailure("\(block) is not an address block")
        }
        self.name = name
        self.reason = reason
        self.first = first
        prefixBits = bits
    }

    package func contains(_ address: IPAddress) -> Bool {
        switch (first, address) {
        case (.v4(let first), .v4(let address)): (first ^ address) >> (32 - prefixBits) == 0
        case (.v6(let first), .v6(let address)): (first ^ address) >> (128 - prefixBits) == 0
        default: false
        }
    }
}

extension BlockedAddressRange: CustomStringConvertible {
    package var description: String { "\(first)/\(prefixBits), \(name)" }
}

/// The address ranges that are blocked by default: the union of those that imgproxy, Mastodon, Synapse and smokescreen
/// block, and all of IPv6 that is not assigned as global unicast.
///
/// IPv4 embedded in IPv6 is either extracted and checked as IPv4 (mapped, ISATAP) or blocked as a whole, as Mastodon
/// and smokescreen do (compatible, translated, NAT64, 6to4, Teredo). A network that reaches IPv4 only through DNS64
/// therefore needs a proxy or native IPv4.
package enum BlockedAddressRanges {
    /// The range that contains an address; nil for an ordinary public address.
    package static func blockedRange(for address: IPAddress) -> BlockedAddressRange? {
        switch address {
        case .v4: v4.first { $0.contains(address) }
        case .v6(let number): blockedRange(forV6: number)
        }
    }

    private static func blockedRange(forV6 number: UInt128) -> BlockedAddressRange? {
        let embedded = UInt32(truncatingIfNeeded: number)
        if number >> 32 == 0xffff { return blockedRange(for: .v4(embedded)) }
        // The universal/local bit of an ISATAP interface identifier may be 0 or 1.
        let interface = UInt32(truncatingIfNeeded: number >> 32)
        if interface == 0x0000_5efe || interface == 0x0200_5efe, let blocked = blockedRange(for: .v4(embedded)) {
            return blocked
        }
        return v6.first { $0.contains(.v6(number)) }
    }

    package static let v4: [BlockedAddressRange] = [
        .init("0.0.0.0/8", "this network", "RFC 1122 3.2.1.3; 0.0.0.0 reaches this host"),
        .init("10.0.0.0/8", "private network", "RFC 1918"),
        .init("100.64.0.0/10", "carrier-grade NAT", "RFC 6598; used by cloud metadata services"),
        .init("127.0.0.0/8", "loopback", "RFC 1122 3.2.1.3"),
        .init("168.63.129.16/32", "Azure's host agent", "reachable only from Azure machines"),
        .init("169.254.0.0/16", "link-local", "RFC 3927; used by cloud metadata services"),
        .init("172.16.0.0/12", "private network", "RFC 1918"),
        .init("192.0.0.0/24", "protocol assignments", "RFC 6890"),
        .init("192.0.2.0/24", "documentation", "RFC 5737"),
        .init("192.31.196.0/24", "AS112", "RFC 7535"),
        .init("192.52.193.0/24", "multicast tunnels", "RFC 7450"),
        .init("192.88.99.0/24", "6to4 relays", "RFC 7526"),
        .init("192.168.0.0/16", "private network", "RFC 1918"),
        .init("192.175.48.0/24", "AS112", "RFC 7534"),
        .init("198.18.0.0/15", "benchmarks", "RFC 2544"),
        .init("198.51.100.0/24", "documentation", "RFC 5737"),
        .init("203.0.113.0/24", "documentation", "RFC 5737"),
        .init("224.0.0.0/4", "multicast", "RFC 5771"),
        .init("240.0.0.0/4", "reserved and broadcast", "RFC 1112 4, RFC 919"),
    ]

    /// Narrow ranges come before wide ones, so that an error names the most specific range.
    package static let v6: [BlockedAddressRange] = [
        .init("::/128", "unspecified", "RFC 4291; reaches this host"),
        .init("::1/128", "loopback", "RFC 4291"),
        .init("::/96", "IPv4-compatible", "RFC 4291 2.5.5.1, deprecated"),
        .init("::ffff:0:0:0/96", "IPv4-translated", "RFC 2765"),
        .init("64:ff9b::/96", "NAT64", "RFC 6052; reaches IPv4 and bypasses the IPv4 table"),
        .init("64:ff9b:1::/48", "local NAT64", "RFC 8215"),
        .init("100::/64", "discard", "RFC 6666"),
        .init("100:0:0:1::/64", "dummy prefix", "RFC 9780"),
        .init("2001::/32", "Teredo", "RFC 4380; reaches IPv4 and bypasses the IPv4 table"),
        .init("2001:2::/48", "benchmarks", "RFC 5180"),
        .init("2001:10::/28", "ORCHID", "RFC 4843"),
        .init("2001:20::/28", "ORCHIDv2", "RFC 7343"),
        .init("2001:db8::/32", "documentation", "RFC 3849"),
        .init("2001::/23", "protocol assignments", "RFC 2928"),
        .init("2002::/16", "6to4", "RFC 3056; reaches IPv4 and bypasses the IPv4 table"),
        .init("3fff::/20", "documentation", "RFC 9637"),
        .init("5f00::/16", "segment routing", "RFC 9602"),
        .init("fc00::/7", "unique local", "RFC 4193"),
        .init("fe80::/10", "link-local", "RFC 4291"),
        .init("fec0::/10", "site-local", "RFC 3879"),
        .init("ff00::/8", "multicast", "RFC 4291"),
        .init("::/3", "not global unicast", "RFC 4291 2.4: only 2000::/3 is assigned"),
        .init("4000::/2", "not global unicast", "RFC 4291 2.4: only 2000::/3 is assigned"),
        .init("8000::/1", "not global unicast", "RFC 4291 2.4: only 2000::/3 is assigned"),
    ]
}
