import MediaEngine
import RichPush
import Synchronization

/// An engine that passes everything on to another, and writes down what it was asked to render and how that ended.
final class RenderRecord: MediaEngine {
    struct Render: Sendable {
        let isArriving: Bool
        var isMade: Bool?
    }

    private let engine: any MediaEngine
    private let written = Mutex<[Render]>([])

    init(_ engine: any MediaEngine) { self.engine = engine }

    /// In the order of their beginning.
    var renders: [Render] { written.withLock { $0 } }

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        try await perform(call, descriptors, deadline, by: engine)
    }

    // Spelled out, since tests are not compiled with the feature that makes it the rule: another type would be no
    // witness, and the protocol's own answer taken without a word.
    nonisolated(nonsending) func inTurnIfFree<Result: Sendable>(
        _ body: nonisolated(nonsending) @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        try await engine.inTurnIfFree { [self] place in try await body(Place(record: self, engine: place)) }
    }

    private struct Place: MediaEngine {
        let record: RenderRecord
        let engine: any MediaEngine

        func perform(
            _ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant
        ) async throws -> MediaAnswer {
            try await record.perform(call, descriptors, deadline, by: engine)
        }
    }

    private func perform(
        _ call: MediaCall, _ descriptors: [CInt], _ deadline: ContinuousClock.Instant, by engine: any MediaEngine
    ) async throws -> MediaAnswer {
        guard case .render(let request) = call else {
            return try await engine.perform(call, descriptors: descriptors, deadline: deadline)
        }
        let number = written.withLock { renders in
            renders.append(Render(isArriving: request.isArriving))
            return renders.count - 1
        }
        do {
            let answer = try await engine.perform(call, descriptors: descriptors, deadline: deadline)
            written.withLock { $0[number].isMade = true }
            return answer
        } catch {
            written.withLock { $0[number].isMade = false }
            throw error
        }
    }
}
