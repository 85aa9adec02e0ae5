import RichPush
import Testing

struct WrittenCheckTests {
    /// What depends on the sender or on the service, not on the file's names.
    static let others: Set<PayloadWarning.Code> = [.typeNotShown, .mutableContentMissing, .alertMissing]

    @Test(arguments: DialectSample.all) func `What is written back has nothing that a check complains of`(
        sample: DialectSample
    ) throws {
        let dialect = try PayloadDialect.named(sample.dialect)
        let document = try PayloadDocument(
            Array(#"{"aps":{"alert":"Hi","mutable-content":1},\#(sample.members)}"#.utf8))
        let media = try PayloadReader.media(in: document.value, dialect: dialect)
        for type in AttachmentType.allCases {
            let prepared = media.items.enumerated().map { (index, item) -> PreparedMedia in
                if case .url = item.address { PreparedSample.ready(type, at: "\(index)") } else { .untouched }
            }
            let written = try PayloadWriter.write(document, media: media, prepared: prepared)
            let value = try PayloadDocument(written.bytes).value
            let read = try PayloadReader.media(in: value, dialect: dialect)
            let warnings = PayloadCheck.warnings(for: value, media: read).filter { !Self.others.contains($0.code) }
            #expect(warnings.isEmpty, "\(type): \(warnings.map(\.message))")
        }
    }
}
