import Foundation
import PushPayload
import RichPush
import TestSupport
import Testing

struct PayloadReaderTests {
    @Test(arguments: DialectSample.all)
    func `The media of each dialect is found with the dialect requested`(sample: DialectSample) throws {
        let media = try PayloadReader.media(in: sample.payload, dialect: .named(sample.dialect))
        #expect(media.dialect.name == sample.dialect)
        #expect(media.items.map(DialectSample.Found.init) == sample.found)
    }

    @Test(arguments: DialectSample.all)
    func `The dialect is detected when none is requested`(sample: DialectSample) throws {
        let media = try PayloadReader.media(in: sample.payload)
        #expect(media.dialect.name == sample.dialect || sample.isShadowed)
        #expect(media.items.map { $0.path.description } == sample.found.map(\.path))
        #expect(!media.warnings.contains { $0.code == .otherMedia }, "\(media.warnings)")
    }

    @Test func `Every dialect has a sample and a unique name`() {
        // Dialects with media inside aps are tested in `DialectDetectionTests`, those of other systems in
        // `TargetMediaTests`.
        let sampled = Set(DialectSample.all.map(\.dialect)).union([
            "aps-media", "ometria", "izooto", "live-activity", "web-push", "declarative-web-push", "gorush",
            "home-assistant-action",
        ])
        #expect(sampled == Set(PayloadDialect.all.map(\.name)))
        #expect(Set(PayloadDialect.all.map(\.name)).count == PayloadDialect.all.count)
    }
}

/// Parses a payload.
func payload(_ text: String) throws -> PayloadValue { try PayloadValue(json: Array(text.utf8)) }

/// The media found in a payload, in the form of `DialectSample`.
func found(_ text: String, dialect: String? = nil) throws -> [DialectSample.Found] {
    try PayloadReader.media(in: payload(text), dialect: dialect.map { try .named($0) }).items
        .map(DialectSample.Found.init)
}

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

    @Test(arguments: anywhere)
    func `A value that is not an absolute URL is kept unchanged with a warning`(row: Row) throws {
        let media = try PayloadReader.media(in: .object([PayloadMember("attach", .string(row.text))]))
        #expect(media.items.map(\.address) == [row.address])
        if case .other = row.address {
            #expect(media.warnings.map(\.code) == [.addressNotFetched])
        } else {
            #expect(media.warnings.isEmpty)
        }
    }

    @Test(arguments: ["https://c.example/a\n.jpg", "https://c.example/a\u{0}.jpg", "https://c.example/\u{7F}"])
    func `A value with control characters is not a URL`(text: String) throws {
        let media = try PayloadReader.media(in: .object([PayloadMember("attach", .string(text))]))
        #expect(media.items.map(\.address) == [.other(text)])
    }

    static let inBundle: [Row] = [
        ("cat.jpg", .file("cat.jpg")), ("/var/cat.jpg", .file("/var/cat.jpg")), ("Http", .other("Http")),
        ("https:/x", .other("https:/x")), ("https://c.example/a.jpg", .url("https://c.example/a.jpg")),
    ]

    @Test(arguments: inBundle)
    func `In dialects with bundle files, a value without http is a file name`(row: Row) throws {
        let aps = PayloadValue.object([PayloadMember("image", .string(row.text))])
        let media = try PayloadReader.media(in: .object([PayloadMember("aps", aps)]))
        #expect(media.items.map(\.address) == [row.address])
    }
}

/// The payloads in `samples/payloads`, and `samples/campaign.jsonl`, which sends them.
struct SamplePayloadTests {
    private static let origin = "http://127.0.0.1:8765/"

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: SourceTree.path(path), encoding: .utf8)
    }

    private static func names(in folder: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: SourceTree.path(folder)))
    }

    @Test func `There is exactly one sample per dialect`() throws {
        let names = try Self.names(in: "samples/payloads").subtracting(["README.md"])
        #expect(names == Set(PayloadDialect.all.map { "\($0.name).json" }))
    }

    @Test(arguments: PayloadDialect.all.map(\.name))
    func `A sample is recognized as its dialect, and its media files exist`(name: String) throws {
        let document = try PayloadDocument(Array(Self.text("samples/payloads/\(name).json").utf8))
        let media = try PayloadReader.media(in: document.value, dialect: nil)
        #expect(media.dialect.name == name)
        let files = try Self.names(in: "samples/media")
        for item in media.items + media.otherItems {
            guard case .url(let address) = item.address else {
                Issue.record("\(item.path) is not a URL")
                continue
            }
            #expect(address.hasPrefix(Self.origin))
            #expect(files.contains(String(address.dropFirst(Self.origin.count))), "\(address)")
        }
    }

    /// The campaign is fixed so that its results stay comparable: later dialects are not in it.
    @Test func `The campaign sends only samples, with unique notification names`() throws {
        let lines = try Self.text("samples/campaign.jsonl").split(separator: "\n").map {
            try PayloadDocument(Array($0.utf8)).value
        }
        let files = Set(lines.compactMap { $0["payload"]?.string })
        #expect(files.count >= 41 && files.isSubset(of: Set(PayloadDialect.all.map { "\($0.name).json" })))
        #expect(Set(lines.compactMap { $0["name"]?.string }).count == lines.count)
    }

    @Test func `The README of the samples has a row for each dialect`() throws {
        let table = try Self.text("samples/payloads/README.md")
        for dialect in PayloadDialect.all { #expect(table.contains("\n| `\(dialect.name).json` |")) }
    }
}
