import Foundation
import RichPush
import TestSupport
import Testing

/// The payloads in `samples/payloads`, and the campaign that sends them.
struct SamplePayloadTests {
    private static let origin = "http://127.0.0.1:8765/"

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: SourceTree.path(path), encoding: .utf8)
    }

    private static func names(in folder: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: SourceTree.path(folder)))
    }

    @Test func `There is a sample of every dialect, and no other`() throws {
        let names = try Self.names(in: "samples/payloads").subtracting(["README.md"])
        #expect(names == Set(PayloadDialect.all.map { "\($0.name).json" }))
    }

    @Test(arguments: PayloadDialect.all.map(\.name))
    func `A sample is known as what it is, and its media are samples, too`(name: String) throws {
        let document = try PayloadDocument(Array(Self.text("samples/payloads/\(name).json").utf8))
        let media = try PayloadReader.media(in: document.value, dialect: nil)
        #expect(media.dialect.name == name)
        let files = try Self.names(in: "samples/media")
        for item in media.items {
            guard case .url(let address) = item.address else {
                Issue.record("\(item.path) is no address")
                continue
            }
            #expect(address.hasPrefix(Self.origin))
            #expect(files.contains(String(address.dropFirst(Self.origin.count))), "\(address)")
        }
    }

    /// Its notifications stay as they are, so that its figures can be compared: later dialects are not in it.
    @Test func `The campaign sends samples alone, and each of its names is one notification`() throws {
        let lines = try Self.text("samples/campaign.jsonl").split(separator: "\n").map {
            try PayloadDocument(Array($0.utf8)).value
        }
        let files = Set(lines.compactMap { $0["payload"]?.string })
        #expect(files.count >= 41 && files.isSubset(of: Set(PayloadDialect.all.map { "\($0.name).json" })))
        #expect(Set(lines.compactMap { $0["name"]?.string }).count == lines.count)
    }

    @Test func `The table of samples has a row for each`() throws {
        let table = try Self.text("samples/payloads/README.md")
        for dialect in PayloadDialect.all { #expect(table.contains("\n| `\(dialect.name).json` |")) }
    }
}
