import MediaEngine
import RichPush
import Synchronization

/// An engine that passes everything on to another, and writes down what work it was asked for and how that ended.
final class WorkRecord: MediaEngine {
    struct Work: Sendable {
        let isInspection: Bool
        let isArriving: Bool
        var isMade: Bool?
    }

    private let engine: any MediaEngine
    private let written = Mutex<[Work]>([])

    init(_ engine: any MediaEngine) { self.engine = engine }

    /// In the order of their beginning.
    var renders: [Work] { written.withLock { $0.filter { !$0.isInspection } } }
    var inspections: [Work] { written.withLock { $0.filter(\.isInspection) } }

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        try await perform(call, descriptors, deadline, by: engine)
    }

    // Spelled out, since tests are not compiled with the feature that makes it the rule: another type would be no
    // witness, and the protocol's own answer taken without a word.
    nonisolated(nonsending) func withFreeSlot<Result: Sendable>(
        _ body: nonisolated(nonsending) @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        try await engine.withFreeSlot { [self] slot in try await body(Slot(record: self, engine: slot)) }
    }

    private struct Slot: MediaEngine {
        let record: WorkRecord
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
        guard let work = Work(call) else {
            return try await engine.perform(call, descriptors: descriptors, deadline: deadline)
        }
        let number = written.withLock { all in
            all.append(work)
            return all.count - 1
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

extension WorkRecord.Work {
    fileprivate init?(_ call: MediaCall) {
        switch call {
        case .render(let request): self.init(isInspection: false, isArriving: request.isArriving)
        case .inspect(let request): self.init(isInspection: true, isArriving: request.arrivingBytes != nil)
        case .identify, .describe: return nil
        }
    }
}
