import Foundation
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// What holds for each option of a request, whichever is added.
struct OptionRowTests {
    private let plain = AttachmentRequest(source: "https://cdn.example/a")

    /// A request for each example of an option, and the example.
    private func examples(of row: OptionRow<AttachmentRequest>) throws -> [(text: String, request: AttachmentRequest)] {
        try row.facts.examples.map { text in
            var request = plain
            let isParsed = try row.parse(&request, text)
            #expect(isParsed, "\(row.facts.key): \(text)")
            return (text, request)
        }
    }

    @Test func `Each example is valid, and is not ignored`() throws {
        for row in AttachmentRequest.optionRows {
            let examples = try examples(of: row)
            for (text, request) in examples {
                #expect(throws: Never.self, "\(row.facts.key): \(text)") { try request.validate() }
            }
            #expect(examples.contains { $0.request != plain }, "\(row.facts.key)")
        }
    }

    @Test func `An option in JSON reads as it was written`() throws {
        for row in AttachmentRequest.optionRows {
            for (text, request) in try examples(of: row) {
                let json = [UInt8](try JSONEncoder().encode(request))
                let again = try AttachmentRequest(json: json, defaults: AttachmentRequest(source: ""))
                #expect(again == request, "\(row.facts.key): \(text)")
            }
        }
    }

    @Test func `The text of an option as a flag is parsed to the same value`() throws {
        for row in AttachmentRequest.optionRows {
            for (text, request) in try examples(of: row) {
                guard let written = row.text(request) else { continue }
                var again = plain
                let isParsed = try row.parse(&again, written)
                #expect(isParsed && again == request, "\(row.facts.key): \(text)")
            }
        }
    }

    @Test func `Another value of an option is another request`() throws {
        for row in AttachmentRequest.optionRows where row.facts.key != "budget" {
            let changed = try examples(of: row).map(\.request).filter { $0 != plain }
            let ids = try Set(([plain] + changed).map { try RequestIdentity($0, localState: nil).id })
            #expect(ids.count == changed.count + 1, "\(row.facts.key)")
        }
    }

    @Test func `Keys and flags are unique`() {
        let facts = AttachmentRequest.optionRows.map(\.facts)
        #expect(Set(facts.map(\.key)).count == facts.count && Set(facts.map(\.flag)).count == facts.count)
    }
}
