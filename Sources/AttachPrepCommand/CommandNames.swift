import ArgumentParser

/// The names of commands, for messages that lead to the right one. Pure.
struct CommandNames {
    /// How the help writes it: `attachprep jobs list`.
    let path: String
    let command: any ParsableCommand.Type

    /// Every command below one, itself first.
    static func all(_ command: any ParsableCommand.Type, below path: String = "") -> [CommandNames] {
        let name = command.configuration.commandName ?? command._commandName
        let whole = path.isEmpty ? name : "\(path) \(name)"
        let below = command.configuration.subcommands.flatMap { all($0, below: whole) }
        return [CommandNames(path: whole, command: command)] + below
    }

    /// What was probably meant by words that name no command; nil where they name one, or nothing is near.
    ///
    /// ```swift
    /// CommandNames.suggestion(for: ["jobs", "lst"], below: AttachPrepCommand.self)  // "jobs list"
    /// ```
    static func suggestion(for words: [String], below command: any ParsableCommand.Type) -> String? {
        var (command, path) = (command, [String]())
        for word in words {
            let names = command.configuration.subcommands.map { $0.configuration.commandName ?? $0._commandName }
            guard !names.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            guard let index = names.firstIndex(of: word) else {
                return nearest(to: word, of: names).map { (path + [$0]).joined(separator: " ") }
            }
            path.append(word)
            command = command.configuration.subcommands[index]
        }
        return nil
    }

    /// The nearest name within two changes, or one that the word begins.
    private static func nearest(to word: String, of names: [String]) -> String? {
        let word = word.lowercased()
        if word.count >= 2, let begun = names.first(where: { $0.hasPrefix(word) }) { return begun }
        let changes = names.map { (name: $0, count: distance(word, $0)) }
        guard let best = changes.min(by: { $0.count < $1.count }), best.count <= min(2, best.name.count / 2) else {
            return nil
        }
        return best.name
    }

    /// How many letters have to be added, removed, changed or swapped with their neighbor (Damerau and Levenshtein).
    static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        var rows = [Array(0...other.count)]
        for row in one.indices {
            var next = [row + 1]
            for column in other.indices {
                let change = rows[row][column] + (one[row] == other[column] ? 0 : 1)
                var least = min(change, rows[row][column + 1] + 1, next[column] + 1)
                let isSwap = row > 0 && column > 0 && one[row] == other[column - 1] && one[row - 1] == other[column]
                if isSwap { least = min(least, rows[row - 1][column - 1] + 1) }
                next.append(least)
            }
            rows.append(next)
        }
        return rows[one.count][other.count]
    }
}
