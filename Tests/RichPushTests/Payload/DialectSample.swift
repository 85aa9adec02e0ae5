import RichPush
import Testing

/// A payload of one dialect and its expected media.
struct DialectSample: Sendable, CustomTestStringConvertible {
    struct Found: Hashable, Sendable {
        var path: String
        var address: PayloadMediaItem.Address
        var id: String?
        var type: String?
        var options = PayloadMediaOptions()

        static func url(_ path: String, _ url: String, id: String? = nil, type: String? = nil) -> Found {
            Found(path: path, address: .url(url), id: id, type: type)
        }

        static func file(_ path: String, _ file: String, id: String? = nil) -> Found {
            Found(path: path, address: .file(file), id: id)
        }
    }

    /// The members beside `aps`.
    let members: String
    let dialect: String
    let found: [Found]
    /// Whether another dialect with the same key takes precedence when none is requested.
    let isShadowed: Bool

    init(_ dialect: String, _ members: String, _ found: [Found], isShadowed: Bool = false) {
        self.dialect = dialect
        self.members = members
        self.found = found
        self.isShadowed = isShadowed
    }

    var testDescription: String { dialect }

    var payload: PayloadValue {
        get throws {
            try PayloadValue(json: Array(#"{"aps":{"alert":"Hi","mutable-content":1},\#(members)}"#.utf8))
        }
    }
}

extension DialectSample.Found {
    init(_ item: PayloadMediaItem) {
        self.init(
            path: item.path.description, address: item.address, id: item.id, type: item.declaredType,
            options: item.options)
    }

    func with(crop: (Double, Double, Double, Double)? = nil, time: Double? = nil, hidden: Bool? = nil) throws -> Self {
        var copy = self
        copy.options.clippingRect = try crop.map { try ClippingRect(x: $0.0, y: $0.1, width: $0.2, height: $0.3) }
        copy.options.thumbnailTime = time
        copy.options.thumbnailHidden = hidden
        return copy
    }
}
