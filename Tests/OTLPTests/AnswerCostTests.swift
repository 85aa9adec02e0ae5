import TestSupport
import Testing

@testable import OTLP

/// Doubling the answer of a collector at most doubles the cost of reading it, whatever it contains.
@Suite(.enabled(if: LinearCost.isCompared)) struct AnswerCostTests {
    @Test(arguments: HostileText.allCases) func `The answer of a collector`(shape: HostileText) {
        let answers: [@Sendable (String) -> String] = [
            { "{\($0):1}" }, { "{\"partialSuccess\":{\"errorMessage\":\($0)}}" },
            { "{\"partialSuccess\":{\"rejectedSpans\":\($0)}}" }, { "{\"partialSuccess\":{\($0):1}}" },
        ]
        for (number, answer) in answers.enumerated() {
            let cost = LinearCost.measure(1_000_000, of: { Array(answer(shape.json($0)).utf8) }) {
                _ = PartialSuccess.rejectedSpans($0)
            }
            #expect(cost.isLinear, "answer \(number): \(cost)")
        }
    }
}
