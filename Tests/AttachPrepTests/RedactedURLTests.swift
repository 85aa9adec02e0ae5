import Testing

@testable import AttachPrep

@Suite struct RedactedURLTests {
    @Test(arguments: [
        ("https://me:secret@cdn.example/cat.jpg", "https://cdn.example/cat.jpg"),
        ("https://me@cdn.example:8443/cat.jpg", "https://cdn.example:8443/cat.jpg"),
        ("http:/me:secret@cdn.example/", "http:/cdn.example/"),
        ("http:\\\\me:secret@cdn.example/", "http:\\\\cdn.example/"),
        ("https://me:a@b@cdn.example/", "https://cdn.example/"),
        ("https://me:pass/word@cdn.example/", "https://cdn.example/"),
        ("https://me:secret@\u{301}cdn.example/", "https://\u{301}cdn.example/"),
        ("https://me\\:secret@cdn.example/", "https://cdn.example/"),
        ("https://me:pass?word@cdn.example/", "https://cdn.example/"),
        ("https://u:p@me:1a/b@cdn.example/", "https://cdn.example/"),
        ("not an address://me:secret@x y", "not an address://x y"),
    ])
    func `User info is removed`(text: String, shown: String) {
        #expect(RedactedURL.redact(text) == shown)
    }

    @Test(arguments: [
        "X-Amz-Signature", "x-amz-credential", "X-AMZ-DATE", "Signature", "sig", "SIG", "token", "Key", "%73ig",
    ])
    func `The value of a key that signs is replaced`(key: String) {
        #expect(
            RedactedURL.redact("https://cdn.example/cat?w=3&\(key)=s3cr3t&h=4#top")
                == "https://cdn.example/cat?w=3&\(key)=REDACTED&h=4#top")
    }

    @Test(arguments: [
        "https://cdn.example/cat@home.jpg?monkey=1&design=2&x=a=b", "https://cdn.example:8080/a:b@c",
        "photos/me@home.jpg",
        "https://cdn.example/?", "", "https://[::1]:80/cat", "https://[::1]/cat@home",
    ])
    func `Everything else stays as it is`(text: String) {
        #expect(RedactedURL.redact(text) == text)
    }

    @Test func `A key in the fragment, or after a semicolon, is redacted too`() {
        #expect(RedactedURL.redact("https://cdn.example/#token=a") == "https://cdn.example/#token=REDACTED")
        #expect(RedactedURL.redact("https://cdn.example/?a=1;sig=b") == "https://cdn.example/?a=1;sig=REDACTED")
    }

    @Test func `A value that holds an equals sign goes whole`() {
        #expect(RedactedURL.redact("https://cdn.example/?sig=ab==") == "https://cdn.example/?sig=REDACTED")
    }

    @Test func `An accent behind a mark does not hide the mark`() {
        #expect(
            RedactedURL.redact("https://cdn.example/?\u{301}a=1&\u{200D}token=s&sig=\u{301}s3cr3t")
                == "https://cdn.example/?\u{301}a=1&\u{200D}token=s&sig=REDACTED")
        #expect(RedactedURL.redact("https://cdn.example/?a&\u{301}&key=s3cr3t").hasSuffix("key=REDACTED"))
    }
}
