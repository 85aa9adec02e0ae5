import MediaEngine

/// How much of the time that is left a render may take, so that something is left for what would have to do instead.
/// Pure.
enum RenderShare {
    /// Thumbnail and crop, and a still attachment.
    static func pictures(_ plan: PreparationPlan) -> Double {
        // The movie or sound that is encoded afterwards needs most of it.
        if plan.conversion != nil { return 0.4 }
        // Nothing cheaper could follow a thumbnail alone.
        return plan.pictures?.outputs == [.thumbnail] ? 1 : 0.85
    }

    /// Streams that are copied; should the disk be slow, a thumbnail has to be had in the rest.
    static let copy = 0.85

    /// The thumbnail alone, after the whole was too much.
    static func thumbnailAlone(_ plan: PreparationPlan) -> Double { plan.conversion != nil ? 0.9 : 1 }
}
