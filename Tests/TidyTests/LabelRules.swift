/// Arguments have labels: no function takes three or more without, and few take two.
///
/// A closure as the last parameter does not count, because it is written behind the parentheses; neither do operators
/// and initializers, whose rows are tables.
enum LabelRules {
    /// The functions that take two or more arguments without labels, in percent of all; GRDB has 3.6.
    static let percentMax = 4.0

    /// A function of Sources: where it is, its name, and the number of its parameters without labels.
    struct Function {
        let path: String
        let line: Int
        let name: Substring
        let unlabeled: Int
    }

    /// Functions with three or more parameters without labels.
    static func three(_ file: TextFile) -> [Finding] {
        functions(file).filter { $0.unlabeled >= 3 }.map {
            Finding(
                $0.path, $0.line, "\($0.name) takes \($0.unlabeled) arguments without labels; name all but the first")
        }
    }

    /// Too many functions with two parameters without labels, each a finding.
    static func two(_ files: [TextFile]) -> [Finding] {
        let all = files.flatMap(functions)
        let two = all.filter { $0.unlabeled >= 2 }
        guard Double(two.count) * 100 >= percentMax * Double(all.count) else { return [] }
        return two.map { Finding($0.path, $0.line, "\($0.name) takes two arguments without labels; name the second") }
    }

    /// The functions that a file of Sources declares.
    static func functions(_ file: TextFile) -> [Function] {
        guard file.isSwift, file.module != nil else { return [] }
        return file.code.indices.compactMap { index in
            let words = file.code[index].split(separator: " ")
            guard let keyword = words.firstIndex(of: "func"), words.indices.contains(keyword + 1),
                words[..<keyword].allSatisfy({ $0.allSatisfy { $0.isLetter || "@()_".contains($0) } })
            else { return nil }
            let name = words[keyword + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "`" }
            guard !name.isEmpty else { return nil }
            let parameters = parameters(file.code[index...])
            let unlabeled = parameters.dropLast().count(where: isUnlabeled)
            let last = parameters.last.map { isUnlabeled($0) && !$0.contains("->") } ?? false
            return Function(path: file.path, line: index + 1, name: name, unlabeled: unlabeled + (last ? 1 : 0))
        }
    }

    private static func isUnlabeled(_ parameter: String) -> Bool {
        let text = parameter.drop { $0.isWhitespace }
        return text.hasPrefix("_ ") || text.hasPrefix("_:")
    }

    /// The parameters of the declaration in the first line, from its name's parenthesis to the one that closes it.
    private static func parameters(_ lines: ArraySlice<String>) -> [String] {
        var (depth, parameters, current) = (0, [String](), "")
        let text = lines.prefix(12).joined(separator: "\n")
        guard let name = text.firstRange(of: "func ")?.upperBound, let start = text[name...].firstIndex(of: "(") else {
            return []
        }
        for character in text[start...].dropFirst() {
            switch character {
            case "(", "[", "{": depth += 1
            case ")" where depth == 0: return current.allSatisfy(\.isWhitespace) ? parameters : parameters + [current]
            case ")", "]", "}": depth -= 1
            case "," where depth == 0:
                parameters.append(current)
                current = ""
                continue
            default: break
            }
            current.append(character)
        }
        return []
    }
}
