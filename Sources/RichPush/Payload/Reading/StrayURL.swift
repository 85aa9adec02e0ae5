/// A URL of media that no dialect reads: what the sender most likely meant.
enum StrayURL {
    /// The first one by depth, as a media key names it; nil when there is none.
    static func mediaKey(in payload: PayloadValue) -> String? {
        var level: [(path: PayloadPath, value: PayloadValue)] = [(PayloadPath(), payload)]
        var visited = 0
        for _ in 0..<depthMax where !level.isEmpty {
            var next: [(path: PayloadPath, value: PayloadValue)] = []
            for (path, value) in level {
                visited += 1
                guard visited <= valuesMax else { return nil }
                if let text = value.string, isMedia(text) { return path.description }
                next += children(of: value, at: path)
            }
            level = next
        }
        return nil
    }

    private static func children(
        of value: PayloadValue, at path: PayloadPath
    ) -> [(path: PayloadPath, value: PayloadValue)] {
        switch value {
        case .object(let members):
            // What this program wrote is no news.
            members.prefix(valuesMax).filter { $0.key != "attachprep" }.map { (path.appending(.key($0.key)), $0.value) }
        case .array(let elements):
            elements.prefix(valuesMax).enumerated().map { (path.appending(.index($0)), $1) }
        default: []
        }
    }

    private static func isMedia(_ text: String) -> Bool {
        guard case .url(let url) = MediaAddress.read(text, namesLocalFiles: false),
            let ending = MediaAddress.fileExtension(of: url)
        else { return false }
        return TypeNames.extensions[ending] != nil && !TypeNames.onlyWords.contains(ending)
    }

    /// Payloads have a handful of levels.
    private static let depthMax = 16
    /// A payload of APNs' size has a few hundred values.
    private static let valuesMax = 2_000
}
