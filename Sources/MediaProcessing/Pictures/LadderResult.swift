import RichPush

/// A still that was brought under its limit, and what that took.
struct LadderResult {
    var still: EncodedStill
    /// Sentences for the manifest's reasons.
    var concessions: [String]
}

/// How a limit is written in a concession: `10,000,000 bytes`.
func bytesText(_ count: Int) -> String { "\(count.grouped) bytes" }
