import RichPush

/// The dialects that are known, as a person reads them: name, service, and where each writes its media.
enum DialectTable {
    static var lines: [String] {
        let dialects = PayloadDialect.all.sorted { $0.name < $1.name }
        let width = (dialects.map(\.name.count).max() ?? 0) + 2
        let serviceWidth = (dialects.map(\.service.count).max() ?? 0) + 2
        return dialects.map { dialect in
            TerminalText.column(dialect.name, width) + TerminalText.column(dialect.service, serviceWidth)
                + places(of: dialect).joined(separator: ", ")
        }
    }

    /// Those in payloads; the forms that an API takes only where there are no others.
    static func places(of dialect: PayloadDialect) -> [String] {
        let delivered = dialect.places.filter { !$0.isRequest }
        // JSON in a string and JSON as it is look alike.
        return (delivered.isEmpty ? dialect.places : delivered).map(\.address.description).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }
}
