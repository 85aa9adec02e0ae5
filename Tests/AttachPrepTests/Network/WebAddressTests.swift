import MediaTypes
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

@Suite struct WebAddressTests {
    @Test(arguments: [
        "ftp://cdn.example/cat", "file:///etc/passwd", "data:image/png;base64,AAAA", "javascript:alert(1)",
        "gopher://cdn.example/", "FILE:///etc/passwd", "ws://cdn.example/",
    ])
    func `Only http and https URLs are accepted`(text: String) {
        #expect(throws: AttachPrepError.self) { try WebAddress(text) }
        #expect(code { try WebAddress(text) } == .sourceSchemeNotAllowed)
    }

    @Test(arguments: [
        "", " ", "cat.jpg", "http://", "https:///", "http://exa mple.example/", "http://[::1/", "http://cdn.example:0/",
        "http://cdn.example:70000/", "http://cdn.example/\u{0}", "http://cdn.example/\r\nX: y", "localhost:8080/cat",
        "http://\(String(repeating: "a", count: 9_000)).example/",
    ])
    func `An invalid URL is rejected`(text: String) {
        #expect(code { try WebAddress(text) } == .sourceInvalidURL)
    }

    /// To curl, which reads the text once more, the first is 0.0.0.1 and the second 127.0.0.1.
    @Test(arguments: ["http://①/", "http://②①③⓪⑦⓪⑥④③③/", "http://⓪x7f①/"])
    func `A host that becomes an IP address when converted to ASCII is rejected`(text: String) throws {
        #expect(code { try WebAddress(text) } == .sourceInvalidURL)
        #expect(code { try WebAddress("http://cdn.example/").following(text) } == .sourceInvalidURL)
    }

    @Test func `Whitespace around a URL is ignored`() throws {
        #expect(try WebAddress("  https://cdn.example/cat \n").text == "https://cdn.example/cat")
    }

    @Test func `A URL without a file name or an extension is accepted`() throws {
        #expect(try WebAddress("https://cdn.example").text == "https://cdn.example/")
        #expect(try WebAddress("https://cdn.example/i/8fa1").text == "https://cdn.example/i/8fa1")
    }

    @Test func `With https only, http is rejected for the source and for redirects`() throws {
        #expect(code { try WebAddress("http://cdn.example/", httpsOnly: true) } == .sourceSchemeNotAllowed)
        let start = try WebAddress("https://cdn.example/", httpsOnly: true)
        #expect(code { try start.following("http://cdn.example/cat") } == .sourceSchemeNotAllowed)
        #expect(try start.following("/cat").text == "https://cdn.example/cat")
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://cdn.example/", "data:,x"])
    func `A redirect to another scheme is rejected`(location: String) throws {
        let start = try WebAddress("https://cdn.example/")
        #expect(code { try start.following(location) } == .sourceSchemeNotAllowed)
    }

    @Test(arguments: [
        ("https://cdn.example/a", "https://cdn.example:443/b", true),
        ("https://cdn.example/", "https://CDN.example/", true),
        ("https://cdn.example/", "http://cdn.example/", false),
        ("https://cdn.example/", "https://cdn.example:444/", false),
        ("https://cdn.example/", "https://img.cdn.example/", false),
    ])
    func `An origin is scheme, host and port`(one: String, other: String, isSame: Bool) throws {
        #expect(try (WebAddress(one).origin == WebAddress(other).origin) == isSame)
    }

    @Test func `Error messages contain neither user info nor signatures`() {
        let error = #expect(throws: AttachPrepError.self) {
            try WebAddress("ftp://me:secret@cdn.example/cat?sig=s3cr3t")
        }
        #expect(error?.message.contains("secret") == false)
        #expect(error?.message.contains("s3cr3t") == false)
    }

    private func code(_ body: () throws -> WebAddress) -> ErrorCode? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? AttachPrepError)?.code
        }
    }
}
