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

    /// Each place once; in an API's requests and in payloads the end of it is the same.
    static func places(of dialect: PayloadDialect) -> [String] {
        dialect.places.map(\.address.description).reduce(into: []) { places, place in
            if !places.contains(where: { place == $0 || place.hasSuffix(".\($0)") }) { places.append(place) }
        }
    }
}
