import Testing

@testable import AttachPrepService

struct LoopbackPolicyTests {
    @Test(arguments: [
        "localhost", "a.localhost", "LOCALHOST", "127.0.0.1", "127.255.0.1", "::1", "[::1]", "::ffff:127.0.0.1",
    ])
    func `Loopback names and addresses`(_ host: String) { #expect(LoopbackPolicy.isLoopback(host)) }

    @Test(arguments: [
        "+127.0.0.1", "127.+0.0.1", "127.0.0.01", "0127.0.0.1", "127.0.0", "127.0.0.1.", "127..0.1", "127.0.0.256",
        "128.0.0.1", "localhost.example", "127.0.0.1.example", "", "\u{661}27.0.0.1", "localho\u{17F}t",
        "::ffff:+127.0.0.1",
    ])
    func `Anything else`(_ host: String) { #expect(!LoopbackPolicy.isLoopback(host)) }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1"), ("localhost", "localhost"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"),
        ("127.0.0.1:", "127.0.0.1"), ("127.0.0.1:80:x", "127.0.0.1:80:x"), ("[::1]x", "[::1]x"),
        ("[::1]:80.example", "[::1]:80.example"), ("[::1", "[::1"),
    ])
    func `The host of a header, without its port`(authority: String, host: String) {
        #expect(LoopbackPolicy.host(of: authority) == host)
    }
}
