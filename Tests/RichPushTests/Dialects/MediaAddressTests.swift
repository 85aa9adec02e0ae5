import RichPush
import Testing

struct MediaAddressTests {
    typealias Row = (text: String, address: PayloadMediaItem.Address)

    static let anywhere: [Row] = [
        ("https://c.example/a.jpg", .url("https://c.example/a.jpg")),
        ("HTTPS://c.example/a.jpg", .url("HTTPS://c.example/a.jpg")),
        ("http://c.example/a.jpg", .url("http://c.example/a.jpg")),
        ("  https://c.example/a.jpg ", .url("https://c.example/a.jpg")),
        ("https://c.example/a b.jpg", .url("https://c.example/a%20b.jpg")),
        ("https://c.example/ä.jpg?q=ü", .url("https://c.example/%C3%A4.jpg?q=%C3%BC")),
        ("https://c.example/a%20b.jpg", .url("https://c.example/a%20b.jpg")),
        ("https://c.example/a[1].jpg", .url("https://c.example/a[1].jpg")),
        ("//c.example/a.jpg", .other("//c.example/a.jpg")), ("/api/camera", .other("/api/camera")),
        ("item:Camera", .other("item:Camera")), ("cat.jpg", .other("cat.jpg")), ("https://", .other("https://")),
        ("https:///a.jpg", .other("https:///a.jpg")), ("https:/c.example/a.jpg", .other("https:/c.example/a.jpg")),
        ("https://c .example/a.jpg", .other("https://c .example/a.jpg")),
        ("ftp://c.example/a.jpg", .other("ftp://c.example/a.jpg")),
        ("data:image/png;base64,AA", .other("data:image/png;base64,AA")),
        ("file:///etc/passwd", .other("file:///etc/passwd")),
    ]

    @Test(arguments: anywhere) func `An address is a URL, or is left as it is and told`(row: Row) throws {
        let media = try PayloadReader.media(in: .object([PayloadMember("attach", .string(row.text))]))
        #expect(media.items.map(\.address) == [row.address])
        if case .other = row.address {
            #expect(media.warnings.map(\.code) == [.addressNotFetched])
        } else {
            #expect(media.warnings.isEmpty)
        }
    }

    @Test(arguments: ["https://c.example/a\n.jpg", "https://c.example/a\u{0}.jpg", "https://c.example/\u{7F}"])
    func `Control characters make no URL`(text: String) throws {
        let media = try PayloadReader.media(in: .object([PayloadMember("attach", .string(text))]))
        #expect(media.items.map(\.address) == [.other(text)])
    }

    static let inBundle: [Row] = [
        ("cat.jpg", .file("cat.jpg")), ("/var/cat.jpg", .file("/var/cat.jpg")), ("Http", .other("Http")),
        ("https:/x", .other("https:/x")), ("https://c.example/a.jpg", .url("https://c.example/a.jpg")),
    ]

    @Test(arguments: inBundle) func `What does not begin with http is a file where a dialect says so`(row: Row) throws {
        let aps = PayloadValue.object([PayloadMember("image", .string(row.text))])
        let media = try PayloadReader.media(in: .object([PayloadMember("aps", aps)]))
        #expect(media.items.map(\.address) == [row.address])
    }
}
