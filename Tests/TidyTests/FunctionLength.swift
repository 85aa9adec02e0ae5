/// No function is longer than a screen: branching stays in the parent, plain work goes into leaves.
///
/// Functions, initializers, subscripts and computed properties are measured from the line that names them to their
/// closing brace, by counting braces in masked source.
enum FunctionLength {
    static let linesMax = 70

    static func check(_ file: TextFile) -> [Finding] {
        guard file.isSwift else { return [] }
        let lines = file.code
        return lines.indices.compactMap { start in
            guard declaresFunction(lines[start]), let end = bodyEnd(lines, from: start) else { return nil }
            let length = end - start + 1
            guard length > linesMax else { return nil }
            return Finding(
                file.path, start + 1, "a function of \(length) lines; split it, \(linesMax) are allowed")
        }
    }

    private static func words(_ line: String) -> [Substring] {
        line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
    }

    private static func declaresFunction(_ line: String) -> Bool {
        // What stands before the name and the parameters: modifiers and the keyword.
        let head = words(String(line.prefix { $0 != "(" && $0 != "{" && $0 != "=" && $0 != ":" }))
        if head.contains("func") || head.contains("subscript") || head.first == "deinit" { return true }
        if let last = head.last, last == "init" { return !line.contains(".init") }
        return head.contains("var") && line.contains("{")
    }

    /// The index of the line that closes the body; nil for a requirement without one.
    private static func bodyEnd(_ lines: [String], from start: Int) -> Int? {
        var parentheses = 0
        var braces = 0
        for index in start..<lines.count {
            if index > start, braces == 0, parentheses == 0, startsAnother(lines[index]) { return nil }
            for character in lines[index] {
                switch character {
                case "(", "[": parentheses += 1
                case ")", "]": parentheses -= 1
                case "{" where parentheses == 0 || braces > 0: braces += 1
                case "}" where parentheses == 0 || braces > 0:
                    braces -= 1
                    if braces == 0 { return index }
                    if braces < 0 { return nil }
                default: break
                }
            }
        }
        return nil
    }

    private static func startsAnother(_ line: String) -> Bool {
        let first = words(line).first
        return line.allSatisfy(\.isWhitespace)
            || ["func", "var", "let", "init", "case", "struct", "enum", "class"].contains { $0 == first }
    }
}
