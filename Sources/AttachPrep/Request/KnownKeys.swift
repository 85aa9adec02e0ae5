import RichPush

/// Any key of a JSON object.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        nil
    }
}

extension Decoder {
    /// A misspelt option must not be dropped without a word: throws `request.invalid` for a key not in the list.
    func refuseKeys(except known: [String]) throws {
        let keys = try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        guard let unknown = keys.sorted().first(where: { !known.contains($0) }) else { return }
        throw AttachPrepError(
            .requestInvalid,
            "The request has an unknown key \"\(unknown)\"; known are \(known.joined(separator: ", ")).")
    }
}
