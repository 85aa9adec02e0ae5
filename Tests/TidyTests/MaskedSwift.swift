/// Swift source with the insides of comments and string literals blanked, line for line, so that a rule about code
/// does not trip over prose.
///
/// An estimate, not a parser: interpolations are blanked with their string, and regex literals are not known.
struct MaskedSwift {
    let lines: [String]

    init(_ text: String) {
        var masker = Masker(text)
        lines = masker.masked().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

/// Walks over the text once, copying code and blanking the rest.
private struct Masker {
    private let input: [Character]
    private var output: [Character] = []
    private var position = 0

    init(_ text: String) {
        input = Array(text)
        output.reserveCapacity(input.count)
    }

    mutating func masked() -> String {
        while position < input.count {
            if !"/#\"".contains(input[position]) {
                output.append(input[position])
                position += 1
            } else if starts(with: "//") {
                blank { $0 == "\n" }
            } else if starts(with: "/*") {
                blankBlockComment()
            } else if let hashes = hashesBeforeQuote() {
                blankString(hashes: hashes)
            } else {
                output.append(input[position])
                position += 1
            }
        }
        return String(output)
    }

    private func starts(with word: String) -> Bool {
        let characters = Array(word)
        return position + characters.count <= input.count
            && input[position..<(position + characters.count)].elementsEqual(characters)
    }

    /// How many `#` stand here before a quote; 0 for a plain one; nil when no string begins here.
    private func hashesBeforeQuote() -> Int? {
        var end = position
        while end < input.count, input[end] == "#" { end += 1 }
        return end < input.count && input[end] == "\"" ? end - position : nil
    }

    private mutating func skip(_ count: Int, blanking: Bool) {
        for _ in 0..<count where position < input.count {
            let character = input[position]
            output.append(blanking && character != "\n" ? " " : character)
            position += 1
        }
    }

    private mutating func blank(until isEnd: (Character) -> Bool) {
        while position < input.count, !isEnd(input[position]) { skip(1, blanking: true) }
    }

    private mutating func blankBlockComment() {
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                skip(2, blanking: true)
            } else if starts(with: "*/") {
                depth -= 1
                skip(2, blanking: true)
            } else {
                skip(1, blanking: true)
            }
        } while depth > 0 && position < input.count
    }

    private mutating func blankString(hashes: Int) {
        let fence = String(repeating: "#", count: hashes)
        let isLong = starts(with: fence + "\"\"\"")
        let quote = isLong ? "\"\"\"" : "\""
        skip(hashes + quote.count, blanking: false)
        while position < input.count {
            if starts(with: quote + fence) {
                skip(quote.count + hashes, blanking: false)
                return
            }
            if !isLong, input[position] == "\n" { return }  // not a string after all: do not swallow the file
            if starts(with: "\\" + fence + "(") {
                blankInterpolation(prefix: 2 + hashes)
            } else {
                skip(starts(with: "\\" + fence) ? 2 + hashes : 1, blanking: true)
            }
        }
    }

    /// `\( … )`, with the strings and parentheses inside.
    private mutating func blankInterpolation(prefix: Int) {
        skip(prefix, blanking: true)
        var depth = 1
        while position < input.count, depth > 0 {
            if let hashes = hashesBeforeQuote() {
                blankString(hashes: hashes)
                continue
            }
            if input[position] == "(" { depth += 1 }
            if input[position] == ")" { depth -= 1 }
            skip(1, blanking: true)
        }
    }
}
