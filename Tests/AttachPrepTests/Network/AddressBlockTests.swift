import MediaTypes
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

@Suite struct AddressBlockTests {
    @Test(arguments: [
        ("10.2.0.0/16", "10.2.0.0", "10.2.255.255", "10.3.0.0"),
        ("10.2.0.0/16", "10.2.3.4", "10.2.3.5", "10.1.255.255"),
        ("192.168.7.9", "192.168.7.9", "192.168.7.9", "192.168.7.8"),
        ("0.0.0.0/0", "0.0.0.0", "255.255.255.255", "::1"),
        ("fd12::/48", "fd12::1", "fd12:0:0:ffff::", "fd12:0:1::"), ("::1/128", "::1", "::1", "::2"),
        ("fd12::7", "fd12::7", "fd12::7", "fd12::8"), ("::/0", "::", "fd12::8", "10.2.3.4"),
        ("10.2.3.4/31", "10.2.3.4", "10.2.3.5", "10.2.3.6"),
    ])
    func `A block contains its first and last address, and no neighboring address`(
        block: String, first: String, last: String, beside: String
    ) throws {
        let block = try AddressBlock(block)
        #expect(try block.contains(#require(IPAddress(first))))
        #expect(try block.contains(#require(IPAddress(last))))
        #expect(try !block.contains(#require(IPAddress(beside))))
    }

    @Test func `IPv4-mapped IPv6 addresses are matched as IPv4`() throws {
        let mapped = try #require(IPAddress("::ffff:10.2.3.4"))
        #expect(try AddressBlock("10.2.0.0/16").contains(mapped))
        #expect(try !AddressBlock("10.3.0.0/16").contains(mapped))
        #expect(try !AddressBlock("::/0").contains(mapped))
    }

    @Test func `An IPv4 block can be written in IPv4-mapped notation`() throws {
        let block = try AddressBlock("::ffff:10.2.0.0/112")
        #expect(block.description == "10.2.0.0/16")
        #expect(try block.contains(#require(IPAddress("10.2.3.4"))))
        #expect(try AddressBlock("::ffff:10.2.3.4").description == "10.2.3.4/32")
    }

    @Test(arguments: [
        "", "/", "/8", "10.2.0.0/", "10.2.0.0/33", "10.2.0.0/-1", "10.2.0.0/+8", "10.2.0.0/ 8", "10.2.0.0/8/8",
        "10.2.0/16", "10.2.0.0.0/16", "0x0a.2.0.0/16", "fd12::/129", "fd12::/x", "fe80::%eth0/64", "hooks.example",
        "[fd12::]/48", "10.2.0.0/16,10.3.0.0/16", " 10.2.0.0/16", "99999999999999999999/99999999999999999999",
    ])
    func `Text that is not a network block is rejected`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try AddressBlock(text) }
        #expect(error?.code == .requestInvalid)
    }

    @Test(arguments: [
        ("10.2.3.4/16", "10.2.0.0/16"), ("fd12::1/64", "fd12::/64"), ("::ffff:10.2.3.4/112", "10.2.0.0/112"),
        ("10.0.0.1/0", "0.0.0.0/0"),
    ])
    func `An address with host bits set is rejected, and the error suggests its network`(text: String, meant: String) {
        let error = #expect(throws: AttachPrepError.self) { try AddressBlock(text) }
        #expect(error?.message.contains("after its prefix; write \(meant)") == true)
    }

    @Test func `An allowed network allows no address outside it`() throws {
        let addressPolicy = try AddressPolicy(networks: [AddressBlock("10.2.0.0/16"), AddressBlock("fd12::/48")])
        for open in ["10.2.3.4", "::ffff:10.2.3.4", "fd12::9", "8.8.8.8"] {
            #expect(addressPolicy.allows(open), "\(open)")
        }
        for shut in ["10.3.0.0", "127.0.0.1", "::1", "fd13::1", "169.254.169.254", "64:ff9b::10.2.3.4", "::10.2.3.4"] {
            #expect(!addressPolicy.allows(shut), "\(shut)")
        }
    }
}
