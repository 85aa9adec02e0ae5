public import AttachPrepModel

/// The result of a preparation task.
public enum PreparationResult: Sendable {
    /// Prepared or rejected, with the freshness that the source's server declared.
    case ended(Manifest, SourceFreshness?)
    /// The server confirmed that the source has not changed; nothing was prepared.
    case unchanged(SourceFreshness)
    /// Prepared, but its target could not be reached; the caller publishes or discards it.
    case unpublished(UnpublishedResult, AttachPrepError)
}
