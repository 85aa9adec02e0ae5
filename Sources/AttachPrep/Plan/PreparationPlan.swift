public import MediaEngine
public import RichPush

/// What is to be done with a file, and why. Pure: made from what the media is and what was asked for.
public struct PreparationPlan: Sendable, Hashable {
    /// What will become of it.
    public internal(set) var outcome: Outcome
    /// Sentences for people.
    public internal(set) var reasons: [String]
    /// What will be done, in order: for `inspect`.
    public internal(set) var steps: [String] = []
    /// The type of a file that is delivered as it is; nil when it is written anew.
    public internal(set) var passedType: AttachmentType?
    /// The type the file could be delivered as, unchanged, if time allows nothing better.
    public internal(set) var originalType: AttachmentType?
    /// Thumbnail and crop, and the attachment when it is a still; nil for sound without a cover.
    public internal(set) var pictures: RenderRequest?
    /// The attachment, when it is a movie, a sound or an animation that is written anew.
    public internal(set) var conversion: RenderRequest?
    /// Bytes the attachment may have if it cannot be as small as its source; nil when that is no bound.
    public internal(set) var relaxedBytesMax: Int?
    /// The thumbnail time to emit, where it is known beforehand.
    public internal(set) var thumbnailTime: ThumbnailTime?
    /// Whether the time to emit is that of the picture that was found.
    public internal(set) var emitsShownTime = false
    /// Whether the rectangle that was cut out is emitted.
    public internal(set) var emitsCrop = false
    public internal(set) var warnings: [PreparationWarning] = []
    /// Why nothing can be delivered.
    public internal(set) var error: AttachPrepError?

    /// The decision.
    public init(media: InspectedMedia, bytes: Int, request: AttachmentRequest) {
        do {
            self = try PlanDecision(media: media, bytes: bytes, request: request).plan()
        } catch let error as AttachPrepError {
            self.init(rejecting: error)
        } catch {
            self.init(rejecting: AttachPrepError(.internal, "The file could not be planned.", detail: "\(error)"))
        }
    }

    /// Nothing can be delivered.
    public init(rejecting error: AttachPrepError) {
        self.init(outcome: .rejected, reasons: [error.message])
        self.error = error
    }

    init(outcome: Outcome, reasons: [String]) {
        self.outcome = outcome
        self.reasons = reasons
    }
}
