/// A shim exists for a stated reason, and its name shows the border at every call.
///
/// Constants that stand together without a blank line share the comment above them.
enum ShimRules {
    static func check(_ file: TextFile) -> [Finding] {
        let module = file.name.dropLast(2)
        guard file.name.hasSuffix(".h"), Modules.cModules.contains(String(module)) else { return [] }
        return file.lines.indices.flatMap { index -> [Finding] in
            guard declares(file.lines[index]) else { return [] }
            var findings: [Finding] = []
            let name = declaredName(file.lines, at: index)
            if !name.hasPrefix("\(module)_") {
                findings.append(
                    Finding(
                        file.path, index + 1,
                        "\(name): call it \(module)_…, so that each call shows which C module it enters"))
            }
            if !hasComment(file.lines, before: index) {
                findings.append(
                    Finding(file.path, index + 1, "\(name): say in a comment before it why the shim exists"))
            }
            return findings
        }
    }

    private static func declares(_ line: Substring) -> Bool {
        line.hasPrefix("static ") || line.hasPrefix("inline ")
    }

    private static func isConstant(_ line: Substring) -> Bool { line.hasPrefix("static const ") }

    /// The identifier before the first `(`, `=` or `[`; the declaration may go on on the next line.
    private static func declaredName(_ lines: [Substring], at index: Int) -> String {
        var declaration = lines[index...].prefix(3).joined(separator: " ")
        while let attribute = declaration.range(of: "__attribute__") {
            let rest = declaration[attribute.upperBound...]
            guard let end = rest.range(of: "))") else { break }
            declaration.removeSubrange(attribute.lowerBound..<end.upperBound)
        }
        let head = declaration.prefix { !"(=[;".contains($0) }
        return head.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.last.map(String.init) ?? "?"
    }

    private static func hasComment(_ lines: [Substring], before index: Int) -> Bool {
        guard index > 0 else { return false }
        let previous = lines[index - 1].drop { $0.isWhitespace }
        if isConstant(lines[index]), isConstant(previous) { return hasComment(lines, before: index - 1) }
        return previous.hasPrefix("//") || previous.hasSuffix("*/")
    }
}
