import Testing

@testable import Curl

@Suite struct CurlURLTests {
    @Test(arguments: [
        ("http://2130706433/", "127.0.0.1"), ("http://0x7f000001/", "127.0.0.1"), ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"), ("http://0x7f.0.0x0.01/", "127.0.0.1"), ("http://[::1]/", "::1"),
        ("http://EXAMPLE.com/", "example.com"), ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://%62%C3%BCcher.example/", "xn--bcher-kva.example"), ("http://１２７.0.0.1/", "127.0.0.1"),
    ])
    func `A host is normalized`(text: String, host: String) throws {
        #expect(try CurlURL(parsing: text).host == host)
    }

    @Test func `Spaces and non-ASCII characters are percent-encoded, and the fragment is removed`() throws {
        let url = try CurlURL(parsing: "https://example.com/two cats/ü%20.jpg?q=ä b#top")
        #expect(url.text == "https://example.com/two%20cats/%c3%bc%20.jpg?q=%c3%a4%20b")
    }

    @Test func `Characters that browsers encode and libcurl does not are percent-encoded`() throws {
        let url = try CurlURL(parsing: "https://example.com/a\"b`c<d>%3C?q=\"`<>")
        #expect(url.text == "https://example.com/a%22b%60c%3Cd%3E%3C?q=%22%60%3C%3E")
        #expect(try url.resolving("?\"").text == "https://example.com/a%22b%60c%3Cd%3E%3C?%22")
    }

    @Test(arguments: ["<", ">", "\"", "`"])
    func `A host with a character that must be encoded is rejected`(character: String) {
        #expect(throws: CurlError.self) { try CurlURL(parsing: "https://exa\(character)mple.com/") }
    }

    @Test func `User info is decoded and removed`() throws {
        let url = try CurlURL(parsing: "https://me%40home:p%3Aw@example.com/cat")
        #expect(url.credentials == CurlCredentials(user: "me@home", password: "p:w"))
        #expect(url.text == "https://example.com/cat")
    }

    @Test(arguments: [
        ("/b", "https://example.com/b"), ("b", "https://example.com/x/b"), ("../b?c", "https://example.com/b?c"),
        ("//other.example/b", "https://other.example/b"), ("?q", "https://example.com/x/a?q"),
        ("http://other.example", "http://other.example/"), ("/two cats", "https://example.com/two%20cats"),
    ])
    func `A relative reference is resolved`(reference: String, target: String) throws {
        #expect(try CurlURL(parsing: "https://example.com/x/a?old").resolving(reference).text == target)
    }

    @Test func `The port defaults to the scheme's own`() throws {
        #expect(try CurlURL(parsing: "https://example.com/").port == 443)
        #expect(try CurlURL(parsing: "http://example.com:8080/").port == 8080)
    }

    @Test(arguments: ["", "http://", "http://exa mple.com/", "http://example.com:99999/", "http://[::1/", "/path"])
    func `An invalid URL is rejected with an error of the URL interface`(text: String) throws {
        let error = #expect(throws: CurlError.self) { try CurlURL(parsing: text) }
        #expect(error?.interface == .url)
    }
}
