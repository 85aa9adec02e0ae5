/// Arrows point one way, and C is behind its wrapper.
enum ImportRules {
    /// An import statement's module.
    static func module(importedBy line: some StringProtocol) -> String? {
        var words = line.split(whereSeparator: \.isWhitespace)[...]
        let modifiers = ["public", "package", "internal", "fileprivate", "private"]
        while let word = words.first, word.hasPrefix("@") || modifiers.contains(String(word)) { words.removeFirst() }
        guard words.popFirst() == "import", var name = words.popFirst() else { return nil }
        let kinds = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
        if kinds.contains(String(name)), let next = words.popFirst() { name = next }
        return String(name.prefix { $0 != "." })
    }

    static func imports(_ file: TextFile) -> [Finding] {
        guard file.isSwift, let owner = file.module else { return [] }
        guard let allowed = Modules.arrows[owner] else {
            return [Finding(file.path, nil, "the module \(owner) has no arrows; add it to Modules and ARCHITECTURE.md")]
        }
        return file.code.enumerated().compactMap { index, line in
            guard let module = module(importedBy: line),
                let remedy = objection(to: module, in: owner, allowed) ?? objection(to: module, in: file)
            else { return nil }
            return Finding(file.path, index + 1, "\(owner) imports \(module): \(remedy)")
        }
    }

    /// Tests run on wrappers, never on C itself.
    static func testImports(_ file: TextFile) -> [Finding] {
        guard file.isSwift, file.path.hasPrefix("Tests/") else { return [] }
        return file.code.enumerated().compactMap { index, line in
            guard let module = module(importedBy: line), Modules.cModules.contains(module) else { return nil }
            return Finding(file.path, index + 1, "imports \(module); test it through its wrapper")
        }
    }

    /// A module stands on its own folder of `Sources` and on earlier ones.
    static func folders(_ files: [TextFile]) -> [Finding] {
        var places: [String: Int] = [:]
        var findings: [Finding] = []
        for file in files where file.module != nil {
            let folder = String(file.components[1])
            if let place = Modules.folders.firstIndex(of: folder) {
                places[file.module ?? ""] = place
            } else {
                findings.append(Finding(file.path, nil, "the folder \(folder) is not one of Modules.folders"))
            }
        }
        for file in files where file.isSwift {
            guard let owner = file.module, let place = places[owner] else { continue }
            for (index, line) in file.code.enumerated() {
                guard let module = module(importedBy: line), let other = places[module], other > place
                else { continue }
                let text = "\(Modules.folders[place]) stands before \(Modules.folders[other]); move what \(module) has"
                findings.append(Finding(file.path, index + 1, text))
            }
        }
        return findings
    }

    /// Dependencies declared in Package.swift.
    static func manifest(_ file: TextFile) -> [Finding] {
        let ours = Set(Modules.arrows.keys).union(Modules.cModules)
        return declarations(in: file.text).flatMap { declaration -> [Finding] in
            guard let allowed = Modules.arrows[declaration.name] else {
                return [
                    Finding(
                        file.path, declaration.line,
                        "the module \(declaration.name) has no arrows; add it to Modules and ARCHITECTURE.md")
                ]
            }
            return declaration.strings.filter { ours.contains($0) && !allowed.contains($0) }.map {
                Finding(
                    file.path, declaration.line,
                    "\(declaration.name) depends on \($0); allowed are \(allowed.sorted().joined(separator: ", "))")
            }
        }
    }

    private static func objection(to module: String, in owner: String, _ allowed: Set<String>) -> String? {
        if let portable = Modules.portable[owner], !portable.contains(module) {
            return "it also compiles into an app; it may import \(portable.sorted().joined(separator: ", ")) only"
        }
        if Modules.arrows[module] != nil || Modules.cModules.contains(module) {
            return allowed.contains(module)
                ? nil : "arrows allow it \(allowed.sorted().joined(separator: ", ")); move the code or ask why"
        }
        if let owners = Modules.dependencies[module], !owners.contains(owner) {
            return "only \(owners.sorted().joined(separator: ", ")) may"
        }
        return Modules.portable[owner] == nil ? Modules.banned[module] : nil
    }

    /// One folder of `MediaLibraries` owns each C library.
    private static func objection(to module: String, in file: TextFile) -> String? {
        guard file.module == "MediaLibraries", Modules.cModules.contains(module),
            Modules.wrappers[String(file.components[3])] != module
        else { return nil }
        return "only the folder that wraps it may"
    }

    private struct Declaration {
        let name: String
        let line: Int
        let strings: [String]
    }

    /// The calls `module("Name", …)` and `.executableTarget(name: "Name", …)` with the strings inside.
    private static func declarations(in text: String) -> [Declaration] {
        let masked = Array(MaskedSwift(text).lines.joined(separator: "\n"))
        let original = Array(text)
        var declarations: [Declaration] = []
        for call in [" module(\"", ".executableTarget("].map(Array.init) {
            for start in masked.indices.dropLast(call.count)
            where masked[start..<(start + call.count)].elementsEqual(call) {
                let end = closing(masked, from: start)
                let strings = literals(String(original[start..<end]))
                guard let name = strings.first else { continue }
                let line = masked[..<start].count { $0 == "\n" } + 1
                declarations.append(Declaration(name: name, line: line, strings: Array(strings.dropFirst())))
            }
        }
        return declarations
    }

    private static func closing(_ characters: [Character], from start: Int) -> Int {
        var depth = 0
        for index in start..<characters.count {
            if characters[index] == "(" { depth += 1 }
            if characters[index] == ")" {
                depth -= 1
                if depth == 0 { return index }
            }
        }
        return characters.count
    }

    private static func literals(_ text: String) -> [String] {
        text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
