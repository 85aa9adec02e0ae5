import AttachPrep
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepCommand

/// Doubling a list of sources at most doubles the cost of reading it, whatever its lines are.
@Suite(.enabled(if: LinearCost.isCompared)) struct ListCostTests {
    private static func read(_ bytes: [UInt8]) {
        guard BatchList.areComparable(bytes) else { return }
        for line in BatchList.lines(bytes) {
            guard let request = try? line.request(defaults: AttachmentRequest(source: "")) else { continue }
            _ = try? request.validate()
            _ = line.source
        }
    }

    @Test(arguments: HostileText.allCases) func `Lines of each text, as sources and as requests`(shape: HostileText) {
        let lines: [@Sendable (Int) -> String] = [
            { shape.text($0) }, { "{\(shape.json($0)):1}" }, { "{\"source\":\(shape.json($0))}" },
        ]
        for (number, line) in lines.enumerated() {
            let text = line(2_000)
            let count = 400_000 / text.utf8.count
            let cost = LinearCost.measure(
                count, of: { Array(String(repeating: "\(text)\n", count: $0).utf8) }, Self.read)
            #expect(cost.isLinear, "lines \(number): \(cost)")
            let one = LinearCost.measure(60_000, of: { Array(line($0).utf8) }, Self.read)
            #expect(one.isLinear, "line \(number): \(one)")
        }
    }

    @Test(arguments: ["\n", "\r\n", "\u{2028}", "a\n", "#\n", "{}\n", " "]) func `Many lines`(line: String) {
        let cost = LinearCost.measure(
            1_000_000, of: { Array(String(repeating: line, count: $0 / line.utf8.count).utf8) }, Self.read)
        #expect(cost.isLinear, "\(cost)")
    }
}
