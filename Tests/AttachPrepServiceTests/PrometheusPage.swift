/// A reader of Prometheus' text format 0.0.4, as strict as its own: written from the format's description alone.
struct PrometheusPage {
    struct Sample: Hashable {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var samples: [Sample] = []
    private(set) var types: [String: String] = [:]
    private(set) var help: [String: String] = [:]

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Fault(description: "the last line does not end") }
        for line in text.unicodeScalars.split(separator: "\n") { try read(String(line)) }
        guard Set(samples.map { "\($0.name)\($0.labels.sorted { $0.key < $1.key })" }).count == samples.count else {
            throw Fault(description: "a series stands there twice")
        }
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    private mutating func read(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        if words.count >= 3, words[0] == "#", words[1] == "HELP" {
            help[words[2]] = words.count > 3 ? words[3] : ""
        } else if words.count == 4, words[0] == "#", words[1] == "TYPE" {
            guard types.updateValue(words[3], forKey: words[2]) == nil else {
                throw Fault(description: "twice: \(line)")
            }
            guard !samples.contains(where: { $0.name == words[2] }) else { throw Fault(description: "late: \(line)") }
        } else {
            samples.append(try sample(line))
        }
    }

    private func sample(_ line: String) throws -> Sample {
        var rest = Substring(line)
        let name = String(rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") })
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest.removeFirst()
            while rest.first != "}" {
                let label = String(rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
                rest = rest.dropFirst(label.count)
                guard !label.isEmpty, rest.hasPrefix("=\"") else { throw Fault(description: line) }
                rest = rest.dropFirst(2)
                guard labels.updateValue(try value(&rest, line), forKey: label) == nil else {
                    throw Fault(description: "a label stands there twice: \(line)")
                }
                if rest.first == "," { rest.removeFirst() }
            }
            rest.removeFirst()
        }
        guard !name.isEmpty, rest.first == " ", let number = Self.number(rest.dropFirst()) else {
            throw Fault(description: line)
        }
        return Sample(name: name, labels: labels, value: number)
    }

    /// Up to the closing quote, which it takes.
    private func value(_ rest: inout Substring, _ line: String) throws -> String {
        var value = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return value
            case "\\":
                switch rest.popFirst() {
                case "\\": value += "\\"
                case "n": value += "\n"
                case "\"": value += "\""
                default: throw Fault(description: line)
                }
            default: value.append(character)
            }
        }
        throw Fault(description: "no end: \(line)")
    }

    private static func number(_ text: Substring) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: Double(text)
        }
    }
}
