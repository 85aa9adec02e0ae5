public import AttachPrep

/// Who does a job's work: the preparer, or what a test writes down.
public protocol JobPreparing: Sendable {
    /// The folder in which the folder of a result appears.
    var output: String { get }

    /// What happened since the start.
    var statistics: PreparerStatistics { get }

    func carryOut(_ order: PreparationOrder) async -> PreparationEnd
}

extension AttachmentPreparer: JobPreparing {}
