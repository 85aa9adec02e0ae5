import AttachPrepModel
import RichPush
import Testing

struct PayloadDialectTests {
    @Test(arguments: ["airship", "Airship", "AIRSHIP", "home_assistant", "customer.io"])
    func `A dialect is found by its name in any letter case or separator`(name: String) throws {
        #expect(try !PayloadDialect.named(name).locations.isEmpty)
    }

    @Test func `An unknown name is rejected with the nearest and all known names`() {
        let error = #expect(throws: PayloadError.self) { try PayloadDialect.named("airshp") }
        #expect(error?.code == .requestInvalid)
        #expect(error?.message.contains("perhaps airship") == true)
        #expect(error?.message.contains("wonderpush") == true)
        #expect(throws: PayloadError.self) { try PayloadDialect.named("") }
        #expect(throws: PayloadError.self) { try PayloadDialect.named(String(repeating: "x", count: 100_000)) }
    }

    @Test func `Dialect names are kebab-case`() {
        let isFit = PayloadDialect.all.allSatisfy { dialect in
            dialect.name.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }
        }
        #expect(isFit)
    }

    typealias Key = (key: String, payload: String, found: [String])

    static let keys: [Key] = [
        ("img", #"{"img":"https://c.example/a.jpg"}"#, ["img"]),
        ("a.b.c", #"{"a":{"b":{"c":"https://c.example/a.jpg"}}}"#, ["a.b.c"]),
        ("a.b.c", #"{"a.b":{"c":"https://c.example/a.jpg"}}"#, ["a.b.c"]),
        ("a.b.c", #"{"a":{"b.c":"https://c.example/a.jpg"}}"#, ["a.b.c"]),
        ("com.example.image", #"{"com.example.image":"https://c.example/a.jpg"}"#, ["com.example.image"]),
        ("a.0.b", #"{"a":[{"b":"https://c.example/a.jpg"}]}"#, ["a[0].b"]),
        ("a[1].b", #"{"a":[{},{"b":"https://c.example/a.jpg"}]}"#, ["a[1].b"]),
        ("a[1]", #"{"a":["","https://c.example/a.jpg"]}"#, ["a[1]"]),
        ("a[1]", #"{"a[1]":"https://c.example/a.jpg"}"#, ["a[1]"]),
        ("a", #"{"a":["https://c.example/a.jpg","https://c.example/b.jpg"]}"#, ["a[0]", "a[1]"]),
        ("a", #"{"a":{"url":"https://c.example/a.jpg"}}"#, ["a.url"]),
        (
            "a", #"{"a":[{"url":"https://c.example/a.jpg"},{"url":"https://c.example/b.jpg"}]}"#,
            ["a[0].url", "a[1].url"]
        ),
        (
            "a.b[].c", #"{"a":{"b":[{"c":"https://c.example/a.jpg"},{"d":1},{"c":"https://c.example/b.jpg"}]}}"#,
            ["a.b[0].c", "a.b[2].c"]
        ),
        ("a.b[]", #"{"a":{"b":["https://c.example/a.jpg"]}}"#, ["a.b[0]"]),
        (" a ", #"{"a":"https://c.example/a.jpg"}"#, ["a"]),
        ("a..b", #"{"a..b":"https://c.example/a.jpg"}"#, ["a..b"]),
        ("a", #"{"message":{"apns":{"payload":{"a":"https://c.example/a.jpg"}}}}"#, ["message.apns.payload.a"]),
    ]

    @Test(arguments: keys) func `A custom media key is found, with dots and indices`(key: Key) throws {
        let media = try PayloadReader.media(in: payload(key.payload), dialect: .custom(mediaKey: key.key))
        #expect(media.items.map(\.path.description) == key.found)
        #expect(media.dialect.name == "custom")
    }

    @Test func `The longest matching key takes precedence`() throws {
        let both = #"{"a":{"b":"https://c.example/short.jpg"},"a.b":"https://c.example/long.jpg"}"#
        let media = try PayloadReader.media(in: payload(both), dialect: .custom(mediaKey: "a.b"))
        #expect(media.items.first?.address == .url("https://c.example/long.jpg"))
    }

    @Test func `An object at a custom media key gives its type and ID`() throws {
        let media = try PayloadReader.media(
            in: payload(#"{"a":{"b.c":{"url":"https://c.example/a","type":"image/png","id":"x"}}}"#),
            dialect: .custom(mediaKey: "a.b.c"))
        #expect(media.items.first?.declaredType == "image/png")
        #expect(media.items.first?.id == "x")
    }

    @Test(arguments: ["", "  ", String(repeating: "a.", count: 400)]) func `An empty or too long media key is rejected`(
        key: String
    ) {
        #expect(
            #expect(throws: PayloadError.self) { try PayloadDialect.custom(mediaKey: key) }?.code == .requestInvalid)
    }

    @Test(arguments: [
        "[]", "[].c", "[][]", "x[].c", "[", "]", ".", "a[", "a[x]", "a[-1]", "a[99999999999999999999]", "a.b[0",
    ])
    func `A media key without a match is rejected as having no media`(key: String) throws {
        let value = try payload(#"{"a":["https://c.example/a.jpg"]}"#)
        let dialect = try PayloadDialect.custom(mediaKey: key)
        let error = #expect(throws: PayloadError.self) { try PayloadReader.media(in: value, dialect: dialect) }
        #expect(error?.code == .payloadNoMedia)
    }
}
