import FuzzSupport

@testable import AttachPrep

/// Fuzzes the parsing of S3 responses and AWS profile files.
@main enum PublishFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            switch input.byte() % 3 {
            case 0: checkAnswer(input.rest())
            case 1: checkText(input.text())
            default: checkProfiles(input.text())
            }
        }
    }

    private static func checkAnswer(_ bytes: [UInt8]) {
        for name in ["Code", "Message", "Region", "UploadId", "Error"] {
            guard let text = XMLText.first(name, in: bytes) else { continue }
            Invariant.hold(XMLText.has(name, in: bytes), "what has text is there")
            Invariant.hold(text.utf8.count <= 3 * XMLText.textBytesMax, "a text is bounded")
        }
    }

    private static func checkText(_ text: String) {
        let element = Array("<Answer><ETag>\(XMLText.escaped(text))</ETag></Answer>".utf8)
        Invariant.hold(element.count(where: { $0 == UInt8(ascii: "<") }) == 4, "a text begins no element: \(text)")
        guard XMLText.escaped(text).utf8.count <= XMLText.textBytesMax else { return }
        // Compared as bytes: Swift joins a combining mark with a preceding bracket into one Character.
        let read = XMLText.first("ETag", in: element).map { Array($0.utf8) }
        Invariant.hold(read == Array(text.utf8), "a text that was written reads the same: \(text)")
    }

    private static func checkProfiles(_ text: String) {
        let file = AWSProfileFile(text)
        for (section, pairs) in file.sections {
            Invariant.hold(!section.contains(where: \.isNewline), "a name is of one line")
            for (key, value) in pairs {
                Invariant.hold(!key.isEmpty && key == key.lowercased(), "keys are in lowercase")
                Invariant.hold(!(key + value).contains(where: \.isNewline), "a value is of one line")
                Invariant.hold(value.first?.isWhitespace != true && value.last?.isWhitespace != true, "trimmed")
            }
        }
        let settings = file.sections.map { ($0.key, $0.value.filter { !$0.key.contains(".") }) }
        let written = settings.map { name, pairs in
            "[\(name)]\n" + pairs.map { "\($0.key) = \($0.value)\n" }.joined()
        }.joined()
        Invariant.hold(AWSProfileFile(written).sections.count <= file.sections.count, "writing adds no section")
    }
}
