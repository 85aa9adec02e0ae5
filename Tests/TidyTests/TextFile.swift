/// A file of the tree as the rules see it: a path from the project's folder, and its text.
struct TextFile {
    let path: String
    let text: String
    /// Split at line feeds; a file that ends with one has no empty last line.
    let lines: [Substring]
    /// The lines of Swift, with comments and strings blanked; none of other files.
    let code: [String]

    init(_ path: String, _ text: String) {
        self.path = path
        self.text = text
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
        code = path.hasSuffix(".swift") ? MaskedSwift(text).lines : []
    }

    /// The components of the path: `["Sources", "Libraries", "Vips", "Image.swift"]`.
    var components: [Substring] { path.split(separator: "/") }

    var name: Substring { components.last ?? "" }

    var isSwift: Bool { name.hasSuffix(".swift") }

    /// `Vips` for `Sources/Libraries/Vips/Image.swift`; nil outside of Sources.
    var module: String? {
        guard components.count > 3, components[0] == "Sources" else { return nil }
        return String(components[2])
    }

    /// Code whose lines people read side by side: Swift, C and scripts, but not Markdown, whose tables are wide.
    var isCode: Bool {
        [".swift", ".h", ".c", ".modulemap", ".sh"].contains { name.hasSuffix($0) }
            || text.hasPrefix("#!") || name == "Makefile"
    }
}
