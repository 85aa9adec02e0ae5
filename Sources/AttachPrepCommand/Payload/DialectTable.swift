import RichPush

/// The dialects that are known, as a person reads them: name, service, and where each writes its media.
enum DialectTable {
    static var table: TextTable {
        let dialects = PayloadDialect.all.sorted { $0.name < $1.name }
        return TextTable(
            columns: ["dialect", "service", "media"].map { TextTable.Column(title: $0) },
            rows: dialects.map { dialect in
                [
                    StyledText(dialect.name), StyledText(dialect.service),
                    StyledText(places(of: dialect).joined(separator: ", ")),
                ]
            },
            concessions: [
                .narrow("media", to: 20), .narrow("service", to: 12), .leaveOut("service"), .narrow("media", to: 10),
            ])
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
