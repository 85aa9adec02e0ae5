/// Ways around the compiler's checks, and around waiting for a fact.
enum EscapeRules {
    /// What ends the process when the world surprises us.
    static func crashes(_ file: TextFile) -> [Finding] {
        guard file.isSwift, file.module != nil else { return [] }
        return occurrences(of: ["try!", "as!"], in: file) { word in
            "\(word) ends the process when it is wrong; throw an AttachPrepError or use a guard"
        }
    }

    /// Escapes that need their reason beside them.
    static func unexplained(_ file: TextFile) -> [Finding] {
        guard file.isSwift, file.module != nil else { return [] }
        let lines = file.lines
        return occurrences(of: ["@unchecked Sendable", "nonisolated(unsafe)"], in: file) { word in
            "\(word): say in a comment on the line before why it holds"
        }.filter { finding in
            var previous = (finding.line ?? 1) - 2
            while previous >= 0, lines[previous].drop(while: \.isWhitespace).hasPrefix("@") { previous -= 1 }
            guard previous >= 0 else { return true }
            return !lines[previous].drop(while: \.isWhitespace).hasPrefix("//")
        }
    }

    /// JSON from outside is decoded after a check of its bytes.
    static func decoders(_ file: TextFile) -> [Finding] {
        // The files of RichPushReceipts were written by the app itself.
        guard file.isSwift, let module = file.module, module != "RichPushReceipts",
            file.path != "Sources/Core/AttachPrepModel/ForeignJSON.swift",
            file.code.contains(where: { $0.contains("JSONDecoder") })
        else { return [] }
        return occurrences(of: ["JSONDecoder().decode(", "decoder.decode("], in: file) { _ in
            "decodes JSON without a check of its bytes; use ForeignJSON.decode"
        }
    }

    /// A test waits for a fact; time proves nothing and is always too long or too short.
    static func sleeps(_ file: TextFile) -> [Finding] {
        guard file.isSwift, file.path.hasPrefix("Tests/") else { return [] }
        return occurrences(of: ["sleep("], in: file) { _ in
            "sleeps; wait for a line, a request, an exit or a file instead, with a limit and a name"
        }
    }

    private static func occurrences(
        of words: [String], in file: TextFile, remedy: (String) -> String
    ) -> [Finding] {
        file.code.enumerated().flatMap { index, line in
            words.filter { contains(line, word: $0) }.map { Finding(file.path, index + 1, remedy($0)) }
        }
    }

    /// `as!` is a word of its own, not the end of `alias!`; `usleep(` is meant as well.
    private static func contains(_ line: String, word: String) -> Bool {
        guard word.hasSuffix("!") else { return line.contains(word) }
        return line.split(whereSeparator: { $0.isWhitespace || "([{,".contains($0) }).contains { $0 == word }
    }
}
