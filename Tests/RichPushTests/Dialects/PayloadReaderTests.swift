import RichPush
import Testing

struct PayloadReaderTests {
    @Test(arguments: DialectSample.all) func `Each dialect's media is found by its row`(sample: DialectSample) throws {
        let media = try PayloadReader.media(in: sample.payload, dialect: .named(sample.dialect))
        #expect(media.dialect.name == sample.dialect)
        #expect(media.items.map(DialectSample.Found.init) == sample.found)
    }

    @Test(arguments: DialectSample.all) func `Without a dialect the right one is found`(sample: DialectSample) throws {
        let media = try PayloadReader.media(in: sample.payload)
        #expect(media.dialect.name == sample.dialect || sample.isShadowed)
        #expect(media.items.map { $0.path.description } == sample.found.map(\.path))
        #expect(!media.warnings.contains { $0.code == .otherMedia }, "\(media.warnings)")
    }

    @Test func `Every row of the table has a sample, and a name of its own`() {
        // Those whose media stands inside aps are in `PayloadChoiceTests`.
        let sampled = Set(DialectSample.all.map(\.dialect)).union(["aps-media", "ometria"])
        #expect(sampled == Set(PayloadDialect.all.map(\.name)))
        #expect(Set(PayloadDialect.all.map(\.name)).count == PayloadDialect.all.count)
    }
}

/// A payload from its text.
func payload(_ text: String) throws -> PayloadValue { try PayloadValue(json: Array(text.utf8)) }

/// What is found in a payload, as the tables of samples have it.
func found(_ text: String, dialect: String? = nil) throws -> [DialectSample.Found] {
    try PayloadReader.media(in: payload(text), dialect: dialect.map { try .named($0) }).items
        .map(DialectSample.Found.init)
}
