/// A name says what a thing is; these words say only that somebody had nothing better.
enum NameRules {
    static let empty = ["Utils", "Util", "Utilities", "Helper", "Helpers", "Manager", "Managers"]

    static func files(_ path: String) -> [Finding] {
        path.split(separator: "/").compactMap { component in
            let stem = component.prefix { $0 != "." }
            guard let word = emptyWord(in: stem) else { return nil }
            return Finding(path, nil, "\(component): \(word) names nothing; call it after the noun inside")
        }
    }

    static func types(_ file: TextFile) -> [Finding] {
        guard file.isSwift else { return [] }
        return file.code.enumerated().compactMap { index, line in
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            guard
                let keyword = words.firstIndex(where: {
                    ["struct", "class", "enum", "actor", "protocol", "typealias"].contains($0)
                }), keyword + 1 < words.count, let word = emptyWord(in: words[keyword + 1])
            else { return nil }
            return Finding(
                file.path, index + 1, "\(words[keyword + 1]): \(word) names nothing; call the type after its noun")
        }
    }

    private static func emptyWord(in name: Substring) -> String? {
        empty.first { name.hasSuffix($0) || name.lowercased() == $0.lowercased() }
    }
}
