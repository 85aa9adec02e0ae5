extension PayloadDialect {
    /// The table: a row a dialect, the most specific ones first, as they are tried.
    public static let all: [PayloadDialect] =
        marketingServices + engagementServices + platforms + homeAndTools + sharedKeys + tutorials + generalKeys
        + firebaseAdminSDKs

    /// The row of that name; throws `request.invalid`, with the nearest name, when there is none.
    public static func named(_ name: String) throws -> PayloadDialect {
        let wanted = name.lowercased().replacing("_", with: "-").replacing(".", with: "-")
        if let dialect = all.first(where: { $0.name == wanted }) { return dialect }
        let nearest = all.map { ($0.name, distance(from: wanted, to: $0.name)) }.min { $0.1 < $1.1 }
        let suggestion = nearest.flatMap { $0.1 <= 3 ? ", perhaps \($0.0)" : nil } ?? ""
        throw AttachPrepError(
            .requestInvalid,
            "There is no dialect \(SpokenText.quoted(name)); name a known one\(suggestion): \(knownNames).")
    }

    /// The names for sentences and help, in alphabetical order.
    public static var knownNames: String { all.map(\.name).sorted().joined(separator: ", ") }

    /// The name of dialects that no row has.
    static let customName = "custom"

    /// An app's own key: `image`, `data.media.url`, `gallery[0].src`, `gallery[].src` for each element.
    ///
    /// Keys may hold dots themselves. What stands there is an address, an array of addresses, or objects with `url`.
    /// Throws `request.invalid` for an empty key.
    public static func custom(mediaKey: String) throws -> PayloadDialect {
        let key = SpokenText.trimmed(mediaKey)
        guard !key.isEmpty, key.utf8.count <= Limits.payloadMediaKeyBytesMax else {
            throw AttachPrepError(
                .requestInvalid,
                "The media key has \(key.utf8.count) bytes; write 1 to \(Limits.payloadMediaKeyBytesMax), "
                    + "with dots between the keys: data.image.")
        }
        if key.contains("[]") {
            let pattern = eachElement(key)
            return PayloadDialect(
                customName, service: "The app's own key \(SpokenText.quoted(key))",
                places: [MediaPlace(pattern), addressed(pattern)])
        }
        let plain = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let indexed = key.replacing("[", with: ".").replacing("]", with: "")
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let spellings = plain == indexed ? [plain] : [plain, indexed]
        return PayloadDialect(
            customName, service: "The app's own key \(SpokenText.quoted(key))",
            places: spellings.flatMap { parts in
                let here = PayloadPattern([.dotted(parts)])
                let each = here.appending(.each)
                return [
                    MediaPlace(here), MediaPlace(each), addressed(here), addressed(each),
                ]
            })
    }

    /// `a.b[].c`: keys with dots between them, every element of an array where `[]` stands.
    private static func eachElement(_ key: String) -> PayloadPattern {
        let parts = key.split(separator: "[]", omittingEmptySubsequences: false).map(String.init)
        let steps = parts.enumerated().flatMap { index, part in
            let keys = part.split(separator: ".").map(String.init)
            let own: [PayloadPattern.Step] = keys.isEmpty ? [] : [.dotted(keys)]
            return index == 0 ? own : [.each] + own  // Bounded: lists, not numbers.
        }
        return PayloadPattern(steps)
    }

    /// An object with the address in `url`.
    private static func addressed(_ object: PayloadPattern) -> MediaPlace {
        MediaPlace(
            object.appending("url"), [.id: object.appending("id"), .type: object.appending("type")], types: .any)
    }

    /// Letters to change, add or leave out.
    private static func distance(from first: String, to second: String) -> Int {
        let (first, second) = (Array(first.prefix(40)), Array(second))
        var row = Array(0...second.count)
        for (line, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in second.indices {
                let replaced = diagonal + (letter == second[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}

extension PayloadPattern {
    func appending(_ step: Step) -> PayloadPattern { PayloadPattern(steps + [step]) }
}
