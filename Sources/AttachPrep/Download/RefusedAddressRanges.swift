/// The one table of addresses that media never comes from: the union of what imgproxy, Mastodon, Synapse and
/// smokescreen refuse, and every part of IPv6 that is not handed out at all.
///
/// IPv4 inside IPv6 is either unwrapped and looked up as IPv4 (mapped, ISATAP) or refused whole, as Mastodon and
/// smokescreen do (compatible, translated, NAT64, 6to4, Teredo). A network that reaches IPv4 through DNS64 alone
/// therefore needs a proxy, or IPv4 of its own.
package enum RefusedAddressRanges {
    /// The range that refuses an address; nil when the address is an ordinary public one.
    package static func verdict(for address: IPAddress) -> RefusedAddressRange? {
        switch address {
        case .v4: v4.first { $0.contains(address) }
        case .v6(let number): verdict(forV6: number)
        }
    }

    private static func verdict(forV6 number: UInt128) -> RefusedAddressRange? {
        let embedded = UInt32(truncatingIfNeeded: number)
        if number >> 32 == 0xffff { return verdict(for: .v4(embedded)) }
        // The universal bit of an ISATAP interface may be set or not.
        let interface = UInt32(truncatingIfNeeded: number >> 32)
        if interface == 0x0000_5efe || interface == 0x0200_5efe, let refused = verdict(for: .v4(embedded)) {
            return refused
        }
        return v6.first { $0.contains(.v6(number)) }
    }

    package static let v4: [RefusedAddressRange] = [
        .init("0.0.0.0/8", "this network", "RFC 1122 3.2.1.3; 0.0.0.0 reaches this host"),
        .init("10.0.0.0/8", "private network", "RFC 1918"),
        .init("100.64.0.0/10", "carrier-grade NAT", "RFC 6598; metadata services of clouds live here"),
        .init("127.0.0.0/8", "loopback", "RFC 1122 3.2.1.3"),
        .init("168.63.129.16/32", "Azure's host agent", "reachable from every Azure machine, from nowhere else"),
        .init("169.254.0.0/16", "link-local", "RFC 3927; metadata services of clouds live here"),
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

    /// The particular before the general, so that a refusal carries the best name.
    package static let v6: [RefusedAddressRange] = [
        .init("::/128", "unspecified", "RFC 4291; reaches this host"),
        .init("::1/128", "loopback", "RFC 4291"),
        .init("::/96", "IPv4-compatible", "RFC 4291 2.5.5.1, deprecated"),
        .init("::ffff:0:0:0/96", "IPv4-translated", "RFC 2765"),
        .init("64:ff9b::/96", "NAT64", "RFC 6052; reaches IPv4 past the IPv4 table"),
        .init("64:ff9b:1::/48", "local NAT64", "RFC 8215"),
        .init("100::/64", "discard", "RFC 6666"),
        .init("100:0:0:1::/64", "dummy prefix", "RFC 9780"),
        .init("2001::/32", "Teredo", "RFC 4380; reaches IPv4 past the IPv4 table"),
        .init("2001:2::/48", "benchmarks", "RFC 5180"),
        .init("2001:10::/28", "ORCHID", "RFC 4843"),
        .init("2001:20::/28", "ORCHIDv2", "RFC 7343"),
        .init("2001:db8::/32", "documentation", "RFC 3849"),
        .init("2001::/23", "protocol assignments", "RFC 2928"),
        .init("2002::/16", "6to4", "RFC 3056; reaches IPv4 past the IPv4 table"),
        .init("3fff::/20", "documentation", "RFC 9637"),
        .init("5f00::/16", "segment routing", "RFC 9602"),
        .init("fc00::/7", "unique local", "RFC 4193"),
        .init("fe80::/10", "link-local", "RFC 4291"),
        .init("fec0::/10", "site-local", "RFC 3879"),
        .init("ff00::/8", "multicast", "RFC 4291"),
        .init("::/3", "not global unicast", "RFC 4291 2.4: only 2000::/3 is handed out"),
        .init("4000::/2", "not global unicast", "RFC 4291 2.4: only 2000::/3 is handed out"),
        .init("8000::/1", "not global unicast", "RFC 4291 2.4: only 2000::/3 is handed out"),
    ]
}
