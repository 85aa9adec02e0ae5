internal import Linux
public import MediaEngine
internal import RichPush

/// The media work in this process: for tests, sanitizers, and programs that prepare files of their own.
///
/// It gives no protection. A file that crashes a decoder ends this process, what a decoder takes of memory it keeps,
/// and nothing ends one that does not look at its deadline: the answer then comes late. Whoever prepares strangers'
/// files takes `AttachPrep`'s `MediaPool`.
///
/// ```swift
/// let engine = try InProcessMediaEngine()
/// let preparer = try AttachmentPreparer(PreparerConfiguration(output: "prepared"), engine: engine)
/// ```
public final class InProcessMediaEngine: MediaEngine {
    private let questions: MediaThread
    private let renders: MediaThread

    /// Starts the threads, which load the libraries with their first call.
    ///
    /// - Parameter mediaSlots: Renders at a time; one more thread answers quick questions.
    /// - Throws: `internal` when the machine has no thread left.
    public init(mediaSlots: Int = 1) throws {
        precondition(mediaSlots >= 1, "an engine renders in at least one slot")
        do {
            questions = try MediaThread(name: "questions", count: 1)
            renders = try MediaThread(name: "renders", count: mediaSlots)
        } catch {
            throw AttachPrepError(.internal, "No thread could be started for media work.", detail: "\(error)")
        }
    }

    /// Does one call on a thread of its own; waiting for one counts as work. A call that has begun is not cancelled.
    public func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws
        -> MediaAnswer
    {
        let threads = if case .render = call { renders } else { questions }
        return try await threads.perform(call, descriptors: descriptors, deadline: deadline)
    }
}
