import MediaTypes
import Testing

@testable import AttachPrep

@Suite struct BlockedAddressRangeTests {
    @Test(arguments: BlockedAddressRanges.v4 + BlockedAddressRanges.v6)
    func `The first and the last address of a range are blocked`(row: BlockedAddressRange) {
        #expect(BlockedAddressRanges.blockedRange(for: row.first) != nil)
        #expect(BlockedAddressRanges.blockedRange(for: row.last) != nil)
        #expect(row.contains(row.first) && row.contains(row.last))
    }

    @Test(arguments: BlockedAddressRanges.v4)
    func `An IPv4 range contains no neighboring address`(row: BlockedAddressRange) throws {
        #expect(BlockedAddressRanges.blockedRange(for: row.first) == row)
        for neighbor in row.neighbors { #expect(!row.contains(neighbor)) }
    }

    @Test(arguments: BlockedAddressRanges.v4)
    func `An IPv4 range is blocked in every IPv6 form`(row: BlockedAddressRange) throws {
        guard case .v4(let number) = row.first else { return }
        let v4 = UInt128(number)
        let forms: [(String, UInt128)] = [
            ("mapped", 0xffff << 32 | v4), ("compatible", v4), ("translated", 0xffff << 48 | v4),
            ("NAT64", 0x64_ff9b << 96 | v4), ("local NAT64", 0x64_ff9b_0001 << 80 | v4),
            ("6to4", 0x2002 << 112 | v4 << 80), ("Teredo", 0x2001_0000 << 96 | (v4 ^ 0xffff_ffff)),
            ("ISATAP", 0x2600_1234 << 96 | 0x5efe << 32 | v4),
            ("ISATAP, universal", 0x2600_1234 << 96 | 0x0200_5efe << 32 | v4),
        ]
        for (name, form) in forms {
            #expect(BlockedAddressRanges.blockedRange(for: .v6(form)) != nil, "\(name) of \(row)")
        }
    }

    @Test(arguments: [
        "8.8.8.8", "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0",
        "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "168.63.129.15", "2606:4700::1111",
        "2a00:1450:4001:830::200e", "2001:4860:4860::8888", "::ffff:8.8.8.8", "2600:1234::5efe:808:808",
    ])
    func `An ordinary public address is allowed`(text: String) throws {
        #expect(try BlockedAddressRanges.blockedRange(for: #require(IPAddress(text))) == nil)
    }

    @Test(arguments: [
        ("169.254.169.254", "link-local"), ("100.100.100.200", "carrier-grade NAT"), ("fd00:ec2::254", "unique local"),
        ("::1", "loopback"), ("::", "unspecified"), ("::ffff:127.0.0.1", "loopback"), ("::ffff:7f00:1", "loopback"),
        ("64:ff9b::a9fe:a9fe", "NAT64"), ("2002:7f00:1::", "6to4"), ("2001:0:53aa::1", "Teredo"),
        ("fe80::1%eth0", "link-local"), ("255.255.255.255", "reserved and broadcast"),
        ("fe00::1", "not global unicast"),
        ("::7f00:1", "IPv4-compatible"), ("::ffff:0:7f00:1", "IPv4-translated"),
    ])
    func `The range that blocks an address is named`(text: String, name: String) throws {
        #expect(try BlockedAddressRanges.blockedRange(for: #require(IPAddress(text)))?.name == name)
    }

    @Test(arguments: [
        "http://127.0.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
        "http://017700000001/", "http://127.1/", "http://127.0.1/", "http://0/", "http://[::1]/",
        "http://[::ffff:127.0.0.1]/", "http://[0:0:0:0:0:ffff:7f00:0001]/", "http://１２７.0.0.1/",
        "http://①②⑦.0.0.1/", "http://127。0。0。1/", "http://%31%32%37.0.0.1/",
    ])
    func `Loopback is recognized in every spelling`(url: String) throws {
        let address = try WebAddress(url)
        let literal = try #require(address.literal, "\(address.host)")
        #expect(BlockedAddressRanges.blockedRange(for: literal) != nil)
    }

    @Test(arguments: ["1.2.3.4", "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8::1", "fe80::1:2:3:4"])
    func `An address is formatted as it was parsed`(text: String) {
        #expect(IPAddress(text)?.description == text)
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.4.5", "256.1.1.1", "0x7f.0.0.1", "1:2", "::g", "localhost"])
    func `Text that is not an address is not parsed`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `The policy can allow every address or exempt one`() throws {
        let loopback = try #require(IPAddress("127.0.0.1"))
        let other = try #require(IPAddress("127.0.0.2"))
        #expect(AddressPolicy().blockedRange(of: loopback) != nil)
        #expect(AddressPolicy(isOpen: true).blockedRange(of: loopback) == nil)
        #expect(AddressPolicy(exempt: [loopback]).blockedRange(of: loopback) == nil)
        #expect(AddressPolicy(exempt: [loopback]).blockedRange(of: other) != nil)
    }
}

extension BlockedAddressRange {
    fileprivate var last: IPAddress {
        switch first {
        case .v4(let number): .v4(number | (UInt32.max >> prefixBits))
        case .v6(let number): .v6(number | (UInt128.max >> prefixBits))
        }
    }

    fileprivate var neighbors: [IPAddress] {
        guard case .v4(let start) = first, case .v4(let end) = last else { return [] }
        return (start > 0 ? [.v4(start - 1)] : []) + (end < .max ? [.v4(end + 1)] : [])
    }
}
