/// Folders of a module point one way: of two folders, only one uses the other's types.
///
/// Uses are found by name, which is enough because no two types share one (`VocabularyRules.sharedNames`).
enum FolderRules {
    /// A folder that uses a type of another folder of its module, and one place where it does.
    struct Use {
        let type: String
        let path: String
    }

    /// The pairs of folders that point both ways, by their names (`Movies <-> Streams`).
    static func circles(_ files: [TextFile]) -> [String: Finding] {
        let uses = uses(files)
        var findings: [String: Finding] = [:]
        for (folder, others) in uses {
            for (other, use) in others where folder < other {
                guard let back = uses[other]?[folder] else { continue }
                findings["\(folder) <-> \(other)"] = Finding(
                    back.path, nil,
                    "\(folder) <-> \(other): uses \(back.type), while \(use.path) uses \(use.type); move one of them "
                        + "to where both may look")
            }
        }
        return findings
    }

    /// For each folder, the folders of its module that it uses.
    private static func uses(_ files: [TextFile]) -> [String: [String: Use]] {
        let sources = files.filter { $0.isSwift && $0.module != nil }
        var owners: [Substring: TextFile] = [:]
        for file in sources {
            for name in declaredTypes(file) { owners[name] = file }
        }
        var uses: [String: [String: Use]] = [:]
        for file in sources {
            for name in Set(file.code.flatMap(identifiers)) {
                guard let owner = owners[name], owner.module == file.module else { continue }
                let (from, to) = (folder(file), folder(owner))
                if from != to { uses[from, default: [:]][to] = Use(type: String(name), path: file.path) }
            }
        }
        return uses
    }

    /// The types at the top level that other files can name.
    private static func declaredTypes(_ file: TextFile) -> [Substring] {
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
        return file.lines.indices.compactMap { index in
            guard file.code[index].first?.isWhitespace == false else { return nil }
            let words = file.lines[index].split(separator: " ")
            guard let kind = words.firstIndex(where: kinds.contains), words.indices.contains(kind + 1),
                !words[..<kind].contains("private"), !words[..<kind].contains("fileprivate"),
                words[..<kind].allSatisfy({ $0.allSatisfy { $0.isLetter || "@()".contains($0) } })
            else { return nil }
            return words[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        }
    }

    /// The words of a line that can name a type.
    private static func identifiers(_ line: String) -> [Substring] {
        line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.filter { $0.first?.isUppercase == true }
    }

    private static func folder(_ file: TextFile) -> String {
        file.components[2...].dropLast().joined(separator: "/")
    }
}
