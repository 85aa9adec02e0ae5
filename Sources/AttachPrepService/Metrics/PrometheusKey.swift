/// Which metric, and with which labels.
struct PrometheusKey: Sendable, Hashable {
    enum Kind: String, Sendable, Hashable {
        case counter
        case gauge
        case histogram
    }

    let name: String
    let kind: Kind
    /// By name.
    let labels: [Label]

    struct Label: Sendable, Hashable, Comparable {
        let name: String
        let value: String

        static func < (left: Label, right: Label) -> Bool { left.name < right.name }
    }

    init(_ name: String, _ kind: Kind, _ dimensions: [(String, String)]) {
        self.name = Self.clean(name)
        self.kind = kind
        // A name that comes twice would make the whole page unreadable.
        var known: Set<String> = []
        labels = dimensions.map { Label(name: Self.clean($0.0), value: $0.1) }
            .filter { known.insert($0.name).inserted }.sorted()
    }

    /// `[a-zA-Z_][a-zA-Z0-9_]*`: anything else becomes an underscore, as Prometheus' own libraries do.
    private static func clean(_ name: String) -> String {
        let text = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return text.first.map(\.isNumber) ?? true ? "_\(text)" : text
    }
}
