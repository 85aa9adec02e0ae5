/// What became of one piece of a payload's media.
public enum PreparedMedia: Sendable, Hashable {
    /// Attachment and thumbnail have public addresses.
    case ready(Manifest)
    /// The item's own address could not be delivered, the one that stands in for it could.
    case fallback(Manifest)
    /// Nothing can be delivered: the item goes, for this reason.
    case failed(ManifestError)
    /// Not ours to fetch: a file of the app's, or an address that only the app can complete.
    case untouched
}
