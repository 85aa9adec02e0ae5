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
        "X-Goog-Signature", "X-Goog-Credential", "x-goog-date", "access_token", "accessToken", "Access-Token", "Policy",
        "Key-Pair-Id", "Expires", "GoogleAccessId", "AWSAccessKeyId", "OSSAccessKeyId", "api_key", "apikey", "API-KEY",
        "password", "passwd", "jwt", "auth", "client_secret", "refresh_token", "sessionid", "hdnts", "__gda__",
        "X-Oss-Signature", "X-Ms-Signature", "auth[token]", "my%5Ftoken", "hmac", "to%6ben",
    ])
    func `The value of a signing key is redacted`(key: String) {
        #expect(
            RedactedURL.redact("https://cdn.example/cat?w=3&\(key)=s3cr3t&h=4#top")
                == "https://cdn.example/cat?w=3&\(key)=REDACTED&h=4#top")
    }

    @Test(arguments: [
        "?sv=2024-11-04&st=2026-01-01&se=2026-12-31T00%3A00%3A00Z&sr=b&sp=r&sig=abc",
        "?SE=2026-12-31&Sig=abc", "?ex=66e0&is=66df&hm=9f86d081884c7d659a2feaa0c55ad015",
        "?e=1735689600&st=8f2a&sign=x",
    ])
    func `Parameters signed along with a secret are redacted with it`(query: String) {
        let shown = RedactedURL.redact("https://cdn.example/cat.jpg\(query)")
        for pair in shown.split(separator: "?")[1].split(separator: "&") {
            #expect(pair.hasSuffix("=REDACTED"), "\(shown)")
        }
    }

    @Test(arguments: [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "AKIAIOSFODNN7EXAMPLE0Q9X2",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "ja7Xk2Pq%2BZ9vT4mLr8WdBn3QyUe6%3D", "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "xoxb4k2j9d8s7f6g5h3j2k1l0", "https%3A%2F%2Fb.example%2Fa.jpg%3Ftoken%3Dabc",
        "https%3A%2F%2Fme%3Apass%40b.example%2F", "http%3A%2F%2Fc%2F%3Fu%3Dhttp%253A%252F%252Fd%252F%253Fsig%253Dabc",
    ])
    func `A random-looking value, or a URL with a secret, is redacted whatever its key`(value: String) {
        #expect(
            RedactedURL.redact("https://cdn.example/cat?w=3&x=\(value)") == "https://cdn.example/cat?w=3&x=REDACTED")
    }

    @Test(arguments: [
        "w=300&v=2", "width=1200&height=630&fit=crop&crop=faces,edges&auto=format&q=80&fm=jpg&dpr=2",
        "lang=de&country=at&utm_source=newsletter&utm_campaign=black-friday-2026-last-chance",
        "id=550e8400-e29b-41d4-a716-446655440000", "file=summer-campaign-hero-image-2024.jpg", "t=1735689600123",
        "name=Donaudampfschifffahrtsgesellschaft", "name=SummerCampaignHeroImageOfTheYear", "date=20260101T120000Z",
        "e=1&st=2", "keyword=cat&keys=3&author=me&designer=you&passenger=1", "v=5d41402a",
        "ids=100,200,300,400,500,600,700",
        "title=Die%20sch%C3%B6nsten%20Bilder%20des%20Jahres%202026", "url=https%3A%2F%2Fb.example%2Fa.jpg%3Fw%3D3",
        "token=&w=1", "path=/images/2024/05/summerhero/large01", "resize=480%2C270&quality=75&strip=all",
    ])
    func `Harmless queries stay unchanged`(query: String) {
        let text = "https://cdn.example/cat.jpg?\(query)"
        #expect(RedactedURL.redact(text) == text)
    }

    @Test(arguments: [
        "https://cdn.example/cat@home.jpg?monkey=1&design=2&x=a=b", "https://cdn.example:8080/a:b@c",
        "photos/me@home.jpg",
        "https://cdn.example/?", "", "https://[::1]:80/cat", "https://[::1]/cat@home",
    ])
    func `Everything else stays unchanged`(text: String) {
        #expect(RedactedURL.redact(text) == text)
    }

    @Test func `A key in the fragment, or after a semicolon, is redacted too`() {
        #expect(RedactedURL.redact("https://cdn.example/#token=a") == "https://cdn.example/#token=REDACTED")
        #expect(RedactedURL.redact("https://cdn.example/?a=1;sig=b") == "https://cdn.example/?a=1;sig=REDACTED")
    }

    @Test func `A value with an equals sign is redacted as a whole`() {
        #expect(RedactedURL.redact("https://cdn.example/?sig=ab==") == "https://cdn.example/?sig=REDACTED")
    }

    @Test func `A combining mark after a delimiter does not hide the delimiter`() {
        #expect(
            RedactedURL.redact("https://cdn.example/?\u{301}a=1&\u{200D}token=s&sig=\u{301}s3cr3t")
                == "https://cdn.example/?\u{301}a=1&\u{200D}token=REDACTED&sig=REDACTED")
        #expect(RedactedURL.redact("https://cdn.example/?a&\u{301}&key=s3cr3t").hasSuffix("key=REDACTED"))
    }
}
