public import AttachPrep
public import RichPush

/// Who does a job's work: the preparer, or what a test writes down.
public protocol JobPreparing: Sendable {
    /// The folder in which the folder of a result appears.
    var output: String { get }

    /// What happened since the start.
    var statistics: PreparerStatistics { get }

    func carryOut(_ order: PreparationOrder) async -> PreparationEnd

    /// Whether a result is a folder in `output` in the end; else it is where it was published to alone.
    var keepsFolders: Bool { get }

    /// Whether a result stands where it was published to.
    func stands(_ manifest: Manifest) async -> Bool
}

extension JobPreparing {
    /// For drivers that publish nowhere else.
    public var keepsFolders: Bool { true }

    /// As they do.
    public func stands(_ manifest: Manifest) async -> Bool { true }
}

extension AttachmentPreparer: JobPreparing {}
