import MediaEngine
import RichPush

/// The second look at a still whose render found it damaged.
///
/// A still is inspected by its header alone, since its render reads all of it anyway; so what is wrong with its data is
/// known only then. An intact file costs nothing of this.
extension Preparation {
    /// The media with its damage, for a plan that repairs it.
    ///
    /// - Parameter error: What the render ended with; thrown again where there is nothing to repair.
    /// - Throws: `media.corrupt` for a still that is not worth a repair.
    func damaged(
        _ media: InspectedMedia, _ source: FetchedSource, _ clock: inout RequestClock,
        _ timings: inout ManifestTimings, after error: AttachPrepError
    ) async throws -> InspectedMedia {
        guard media.format == .jpeg, media.damage == nil else { throw error }
        let question = InspectRequest(format: media.format, decodesStills: true)
        let turn = try await rooms.engine(for: source, of: request).inTurn(.question, clock) { engine, clock in
            try await engine.inspect(question, source: source.descriptor, deadline: clock.deadline)
        }
        clock = turn.clock
        // Bounded: floating point.
        timings.inspect += turn.milliseconds
        let inspected = try turn.result.get()
        guard inspected.damage != nil else { throw error }
        return inspected
    }
}
