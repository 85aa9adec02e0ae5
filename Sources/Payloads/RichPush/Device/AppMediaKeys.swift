/// The keys at which an app's own payloads have media, with a value for each language where the payload has several.
struct AppMediaKeys {
    private let keys: [String]
    private let languages: [String]

    /// - Parameters:
    ///   - keys: Keys as in `data.image` or `gallery[].src`, in order of preference.
    ///   - languages: Language tags in order of preference, such as `de-AT`.
    init(_ keys: [String], languages: [String]) {
        self.keys = Array(keys.prefix(Limits.deviceMediaKeysMax))
        self.languages = Array(languages.prefix(Limits.deviceLanguagesMax))
    }

    /// The media of the first key that has any; nil when none has.
    func items(in payload: PayloadValue) -> [PayloadMediaItem]? {
        for key in keys {
            for spelling in [key] + members.map({ "\(key).\($0)" }) {
                guard let dialect = try? PayloadDialect.custom(mediaKey: spelling),
                    let items = try? PayloadReader.media(in: payload, dialect: dialect).items, !items.isEmpty
                else { continue }
                return items
            }
        }
        return nil
    }

    /// The names of an object's members to try: `de-AT`, `de_AT`, `de`, then `default`.
    private var members: [String] {
        languages.flatMap { tag -> [String] in
            let parts = tag.split { $0 == "-" || $0 == "_" }.prefix(4).map(String.init)
            return (1...max(parts.count, 1)).reversed().flatMap { count -> [String] in
                let shorter = parts.prefix(count)
                return count > 1 ? [shorter.joined(separator: "-"), shorter.joined(separator: "_")] : Array(shorter)
            }
        } + ["default"]
    }
}

extension Limits {
    /// Media keys of an app that are tried: an app has a handful.
    static let deviceMediaKeysMax = 20
    /// Languages of the user that are tried: three more than iOS suggests to set.
    static let deviceLanguagesMax = 8
}
