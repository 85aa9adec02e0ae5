import RichPush

/// A result whose files have their final names, on its way to where it is published.
struct FinishedResult: Sendable {
    let manifest: Manifest
    /// Holds the files under the manifest's names.
    let staging: StagingFolder
    /// The name of its folder, where it becomes one; nil takes the manifest's id.
    let folder: String?
    /// When all must be there.
    let deadline: ContinuousClock.Instant
}

/// Where results appear: each of them whole, or not at all.
protocol PublishTarget: Sendable {
    /// How many seconds of a budget are kept back for it.
    func reserveSeconds(ofBudget budgetSeconds: Double) -> Double

    /// Where a file will be served; nil where nobody does.
    func url(of file: String, in result: String) -> String?

    /// Brings the files, which nobody looks for yet.
    ///
    /// - Throws: `output.…` or `publish.…`, `deadline.exceeded`, `cancelled`.
    func bring(_ result: FinishedResult) async throws

    /// Brings the manifest, with which the result is there.
    ///
    /// - Throws: as `bring`.
    func complete(_ result: FinishedResult) async throws

    /// The manifest of a result that is there, files and all; nil when none is, or nobody can say.
    func standing(_ id: String) async -> Manifest?

    /// Whether a result is a folder below `--output` in the end.
    var keepsFolders: Bool { get }

    /// Tries whether results could be published now.
    ///
    /// - Throws: what they would fail with.
    func probe() async throws

    /// Ends what is under way.
    func shutdown() async
}
