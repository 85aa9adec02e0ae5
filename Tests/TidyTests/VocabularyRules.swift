/// Names and sentences use the field's own words, one meaning each.
///
/// `docs/glossary.md` lists the few words of our own; everything else is what an engineer would type into a search box.
enum VocabularyRules {
    /// Words that no name of a type, function, property, case or file may hold, each with what to write instead.
    ///
    /// A name is split at its capitals, so `ServiceDesk` and `deskURL` hold `desk`, and `desktop` does not.
    static let names: [String: String] = [
        "anew": "again, or the operation's own name", "behaviour": "behavior", "census": "statistics or histogram",
        "centre": "center", "colour": "color", "coloured": "colored", "colours": "colors", "desk": "client",
        "errand": "task or request", "fate": "outcome", "grey": "gray", "greys": "grays",
        "hearing": "events or changes", "hurry": "deadline", "ledger": "record or statistics", "licence": "license",
        "neighbour": "neighbor", "normalise": "normalize", "normalised": "normalized", "office": "service",
        "optimise": "optimize", "optimised": "optimized", "people": "operators, users or clients",
        "pilot": "trial", "proof": "validation", "quantise": "quantize", "quantiser": "quantizer",
        "refusal": "rejection or error", "room": "module, dependencies or capacity",
        "rooms": "modules or dependencies", "salvage": "recovery", "shelf": "collector", "spelt": "spelled",
        "standing": "status or state", "survey": "scan", "thrift": "work reduction", "told": "sent or notified",
        "trespass": "escape attempt", "wall": "sandbox, or a policy", "walls": "sandbox", "wear": "reset",
        "heard": "received", "said": "sent or reported",
    ]

    /// Names that hold such a word and stay: the wall clock.
    static let keptNames: Set<String> = ["wall"]

    /// Words of libvips that are not prose.
    static let libraryWords: Set<String> = ["colour", "colourspace", "grey16"]

    /// RFC 9457's own word for what a response reports.
    static let keptErrorTypes: Set<Substring> = ["Problem"]

    /// Phrases that no sentence of code, help, error or document may hold, each with what to write instead.
    static let phrases: [String: String] = [
        "anew": "again", "behaviour": "behavior", "colour": "color", "grey": "gray", "is none of": "is not one of",
        "of ours": "our own, or the thing's name", "the walls": "the sandbox", "its walls": "its sandbox",
        "optimis": "optimiz", "stands upright": "is upright", "who asks": "the caller", "without a word": "silently",
        "word on": "decision on", "is told": "is notified, or receives", "nobody asks": "unused",
        "no verdict on": "may still be intact", "acknowledgement": "acknowledgment", "labelled": "labeled",
        "lower-case": "lowercase", "time-out": "timeout",
    ]

    private static let sortedPhrases = phrases.keys.sorted()

    /// Declarations in Swift, JavaScript, Python and SQL whose names hold a banned word.
    static func names(_ file: TextFile) -> [Finding] {
        let isScript = file.name.hasSuffix(".js") || file.name.hasSuffix(".py")
        guard file.isSwift || isScript, !file.path.hasPrefix("Tests/TidyTests/") else { return [] }
        let hasSQL = file.isSwift && (file.text.contains("CREATE ") || file.text.contains("ADD COLUMN "))
        let columns = hasSQL ? file.lines.enumerated().compactMap { column($1, $0, file) } : []
        let lines = file.isSwift ? file.code : file.lines.map(String.init)
        return columns
            + lines.enumerated().flatMap { index, line in
                declaredNames(in: line).compactMap { name in
                    bannedWord(in: name).map { word in
                        Finding(file.path, index + 1, "\(name) holds \"\(word)\"; use \(names[word] ?? "another word")")
                    }
                }
            }
    }

    /// A table, index or column that a line of SQL declares.
    private static func column(_ line: Substring, _ index: Int, _ file: TextFile) -> Finding? {
        let declaration = /(?:CREATE TABLE|CREATE INDEX|ADD COLUMN) (?:IF NOT EXISTS )?(\w+)/
        guard let match = line.firstMatch(of: declaration), let word = bannedWord(in: String(match.1))
        else { return nil }
        return Finding(file.path, index + 1, "\(match.1) holds \"\(word)\"; use \(names[word] ?? "another word")")
    }

    /// Components of a path that hold a banned word.
    static func files(_ path: String) -> [Finding] {
        path.split(separator: "/").compactMap { component in
            bannedWord(in: String(component.prefix { $0 != "." })).map { word in
                Finding(path, nil, "\(component) holds \"\(word)\"; use \(names[word] ?? "another word")")
            }
        }
    }

    /// Lines of code or of a document that hold a banned phrase.
    static func sentences(_ file: TextFile) -> [Finding] {
        let isProse = file.name.hasSuffix(".md") && file.name != "CHANGELOG.md"
        guard file.isSwift || isProse, !file.path.hasPrefix("Tests/TidyTests/") else { return [] }
        return file.lines.enumerated().compactMap { index, line in
            let line = prose(line, file.isSwift ? file.code[index] : nil).lowercased()
            guard let phrase = sortedPhrases.first(where: { holds(line, $0) }) else { return nil }
            return Finding(file.path, index + 1, "\"\(phrase)\"; write \(phrases[phrase] ?? "it plainly")")
        }
    }

    /// Thrown types whose names do not end in `Error`.
    static func errorTypes(_ file: TextFile) -> [Finding] {
        guard file.isSwift else { return [] }
        return file.code.enumerated().compactMap { index, line in
            // Regular expressions are slow, and most lines name no error.
            guard words(of: line).contains("Error"),
                let match = line.firstMatch(of: /\b(?:struct|enum|class)\s+(\w+)\s*:\s*([^\x7B]*)/),
                match.2.split(whereSeparator: { !$0.isLetter }).contains("Error"), !match.1.hasSuffix("Error"),
                !keptErrorTypes.contains(match.1)
            else { return nil }
            return Finding(file.path, index + 1, "\(match.1) is thrown; its name ends in Error")
        }
    }

    /// Types at the top level of Sources that share a name, whichever modules they are in.
    static func sharedNames(_ files: [TextFile]) -> [Finding] {
        var seen: [Substring: String] = [:]
        var findings: [Finding] = []
        for file in files where file.isSwift && file.path.hasPrefix("Sources/") {
            for (index, line) in file.code.enumerated() {
                guard let match = line.prefixMatch(of: typeDeclaration) else { continue }
                let name = Substring(String(line[match.range]).split(separator: " ").last ?? "")
                if let other = seen[name], other != file.path {
                    findings.append(Finding(file.path, index + 1, "\(name) is also a type of \(other)"))
                }
                seen[name] = file.path
            }
        }
        return findings
    }

    private nonisolated(unsafe) static let typeDeclaration =
        /(?:public |package |internal |final |indirect |@\w+ )*(?:struct|class|enum|actor|protocol) \w+/

    private static let keywords: Set<Substring> = [
        "struct", "class", "enum", "actor", "protocol", "typealias", "func", "var", "let", "case",
        "function", "const", "def",
    ]

    private static func declaredNames(in line: String) -> [String] {
        let words = words(of: line)
        return words.indices.compactMap { index in
            keywords.contains(words[index]) && index + 1 < words.count ? String(words[index + 1]) : nil
        }
    }

    /// The words of a line. By bytes, which takes a tenth of the time of characters.
    private static func words(of line: String) -> [Substring] {
        line.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): false
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): false
            default: true
            }
        }
        .map { Substring($0) }
    }

    /// The first banned word among the words of a name.
    private static func bannedWord(in name: String) -> String? {
        if keptNames.contains(name) { return nil }
        var words: [String] = []
        var isCapital = false
        for character in name {
            if character.isUppercase && !isCapital || words.isEmpty { words.append("") }
            if !character.isLetter {
                words.append("")
            } else {
                words[words.count - 1].append(Character(character.lowercased()))
            }
            isCapital = character.isUppercase
        }
        return words.first { names[$0] != nil }
    }

    /// The comments and strings of a line of Swift, code blanked; a line of a document as it is.
    private static func prose(_ line: Substring, _ code: String?) -> String {
        guard let code else { return String(line) }
        var rest = code[...]
        return String(line.map { $0 == rest.popFirst() && $0 != " " ? " " : $0 })
    }

    /// Whether a phrase is in a line, at the beginning of a word that is not a library's.
    private static func holds(_ line: String, _ phrase: String) -> Bool {
        line.ranges(of: phrase).contains { range in
            let word = line[range.lowerBound...].prefix { $0.isLetter || $0.isNumber }
            return (range.lowerBound == line.startIndex || !line[line.index(before: range.lowerBound)].isLetter)
                && !libraryWords.contains(String(word))
        }
    }
}
