/// Searches a payload for URLs of media at keys that no dialect knows.
enum MediaURLSearch {
    /// The media key of the first media URL, searched breadth first, also inside JSON texts; nil when there is none.
    ///
    /// A URL with the extension of a media type wins over one whose key only sounds like media.
    static func mediaKey(in payload: PayloadValue) -> String? {
        var named: String?
        for found in values(of: payload) {
            guard let text = found.value.string, case .url(let url) = MediaAddress.read(text, namesLocalFiles: false)
            else { continue }
            if hasMediaExtension(url) { return key(of: found) }
            if named == nil, hasMediaKey(found.path) { named = key(of: found) }
        }
        return named
    }

    /// The media URLs below a value, in the order of the payload.
    static func urls(below value: PayloadValue) -> [(path: PayloadPath, value: PayloadValue)] {
        var found: [(path: PayloadPath, value: PayloadValue)] = []
        collect(value, at: PayloadPath(), into: &found)
        return found
    }

    private static func collect(
        _ value: PayloadValue, at path: PayloadPath, into found: inout [(path: PayloadPath, value: PayloadValue)]
    ) {
        // Bounded: at most `depthMax` steps and `Limits.payloadMediaMax` finds, of values that the parser has bounded.
        guard found.count <= Limits.payloadMediaMax, path.steps.count < depthMax else { return }
        if let text = value.string, case .url(let url) = MediaAddress.read(text, namesLocalFiles: false),
            hasMediaExtension(url) || hasMediaKey(path)
        {
            found.append((path, value))
        }
        for child in children(of: value, at: path) { collect(child.value, at: child.path, into: &found) }
    }

    private struct Found {
        let path: PayloadPath
        let value: PayloadValue
        /// Whether this is an element of a list of URLs.
        var isInList = false
    }

    /// All values, level by level.
    private static func values(of top: PayloadValue) -> [Found] {
        var all: [Found] = []
        var level = [Found(path: PayloadPath(), value: top)]
        for _ in 0..<depthMax where !level.isEmpty && all.count < valuesMax {
            all += level.prefix(valuesMax)
            level = level.flatMap { children(of: $0.value.embeddedContainer ?? $0.value, at: $0.path) }
        }
        return all
    }

    private static func children(of value: PayloadValue, at path: PayloadPath) -> [Found] {
        switch value {
        case .object(let members):
            // The neutral object is written by attachprep itself.
            return members.prefix(valuesMax).filter { $0.key != "attachprep" }
                .map { Found(path: path.appending(.key($0.key)), value: $0.value) }
        case .array(let elements):
            let isList = elements.allSatisfy { element in
                guard let text = element.string, case .url = MediaAddress.read(text, namesLocalFiles: false)
                else { return false }
                return true
            }
            return elements.prefix(valuesMax).enumerated()
                .map { Found(path: path.appending(.index($0)), value: $1, isInList: isList) }
        default: return []
        }
    }

    private static func hasMediaExtension(_ url: String) -> Bool {
        guard let ending = FileName.fileExtension(of: url) else { return false }
        return MediaTypeNames.extensions[ending] != nil && !MediaTypeNames.nonExtensionNames.contains(ending)
    }

    /// Whether the last key sounds like media: `heroImage`, `photo_urls`.
    private static func hasMediaKey(_ path: PayloadPath) -> Bool {
        let key = path.steps.reversed().lazy.compactMap { step in
            if case .key(let key) = step { key } else { nil }
        }.first
        guard let key = key?.utf8.prefix(keyBytesMax) else { return false }
        let letters = String(decoding: key, as: UTF8.self).lowercased()
        return words.contains { letters.range(ofFirst: $0) != nil }
    }

    /// The media key of a value; of a list of URLs, that of all elements: `gallery[]`.
    private static func key(of found: Found) -> String {
        guard found.isInList, let list = found.path.parent else { return found.path.description }
        return "\(list.description)[]"
    }

    /// Parts of keys under which apps and services keep the URLs of media.
    private static let words = [
        "image", "img", "picture", "photo", "media", "video", "movie", "audio", "gif", "thumb", "banner", "poster",
        "attachment", "avatar", "artwork", "gallery",
    ]
    /// Bytes of a key that are compared; keys of payloads have some 20.
    private static let keyBytesMax = 100
    /// The number of levels searched; payloads have a handful.
    private static let depthMax = 16
    /// The number of values searched; a payload of 4,096 bytes has a few hundred.
    private static let valuesMax = 2_000
}
