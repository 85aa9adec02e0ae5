import Foundation
import MediaTypes
import SafeArithmetic
import Testing

@testable import AttachPrep

@Suite struct RedirectCookiesTests {
    private func sent(_ fields: [String], from: String = "https://a.example/x/go", to: String, callers: String? = nil)
        throws -> String?
    {
        var cookies = RedirectCookies()
        cookies.store(ResponseHead(status: 302, fields.map { ("set-cookie", $0) }), from: try WebAddress(from))
        return cookies.header(for: try WebAddress(to), callers: callers)
    }

    @Test(arguments: [
        ("a=1", "https://a.example/x/y", "a=1"),
        ("a=1", "https://a.example/y", nil),
        ("a=1; Path=/", "https://a.example/y", "a=1"),
        ("a=1; Path=/y", "https://a.example/yz", nil),
        ("a=1; Path=/y", "https://a.example/y/z?q", "a=1"),
        ("a=1; Path=/y/", "https://a.example/y/z", "a=1"),
        ("a=1; path=y", "https://a.example/x/", "a=1"),
        ("a=1; Path=/", "https://b.a.example/", nil),
        ("a=1; Path=/; Domain=a.example", "https://b.a.example/", nil),
        ("a=1; Path=/; Domain=.EXAMPLE", "https://a.example/", "a=1"),
        ("a=1; Path=/; Domain=other.example", "https://a.example/", nil),
        ("a=1; Path=/; Domain=ample", "https://a.example/", nil),
        ("a=1; Path=/", "http://a.example:8080/", "a=1"),
        ("a=1; Path=/; Secure", "http://a.example/", nil),
        ("a=1; Path=/; Secure", "https://a.example/", "a=1"),
        ("a=1; Path=/; Max-Age=0", "https://a.example/", nil),
        ("a=1; Path=/; Max-Age=-1", "https://a.example/", nil),
        ("a=1; Path=/; Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://a.example/", "a=1"),
        ("a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://a.example/", nil),
        ("a=1; Path=/; Expires=Fri, 31 Dec 9999 23:59:59 GMT", "https://a.example/", "a=1"),
        ("a=b=c; Path=/", "https://a.example/", "a=b=c"),
        ("a=; Path=/", "https://a.example/", "a="),
        ("a; Path=/", "https://a.example/", nil),
        ("=1; Path=/", "https://a.example/", nil),
        ("", "https://a.example/", nil),
        ("a=\u{e9}; Path=/", "https://a.example/", nil),
    ])
    func `A cookie is sent to its host, path and scheme`(field: String, to: String, value: String?) throws {
        #expect(try sent([field], to: to) == value)
    }

    @Test func `A secure cookie of a plain connection is not stored`() throws {
        #expect(try sent(["a=1; Path=/; Secure"], from: "http://a.example/", to: "https://a.example/") == nil)
    }

    @Test func `A later cookie of the same name replaces the earlier one, or deletes it`() throws {
        #expect(try sent(["a=1; Path=/", "b=2; Path=/", "a=3; Path=/"], to: "https://a.example/") == "b=2; a=3")
        #expect(try sent(["a=1; Path=/", "a=; Path=/; Max-Age=0"], to: "https://a.example/") == nil)
    }

    @Test func `The caller's cookies come first and win`() throws {
        let value = try sent(["a=1; Path=/", "b=2; Path=/"], to: "https://a.example/", callers: "a=mine; c=3")
        #expect(value == "a=mine; c=3; b=2")
    }

    @Test func `Cookies are limited in bytes and number`() throws {
        let large = "a=" + String(repeating: "x", count: Limits.cookieBytesMax)
        #expect(try sent([large + "; Path=/", "b=1; Path=/"], to: "https://a.example/") == "b=1")
        let many = (0..<100).map { "c\($0)=1; Path=/" }
        #expect(try sent(many, to: "https://a.example/")?.split(separator: ";").count == Limits.cookiesMax)
    }
}
