public import MediaEngine
public import RichPush

/// What is to be done with a file, and why. Pure: made from what the media is and what was asked for.
public struct PreparationPlan: Sendable, Hashable {
    /// What will become of it.
    public let outcome: Outcome
    /// Sentences for people.
    public let reasons: [String]
    /// What will be done, in order: for `inspect`.
    public let steps: [String]
    /// The type of a file that is delivered as it is; nil when it is written anew, as what its pixels ask for.
    public let passedType: AttachmentType?
    /// What the media child is to write; nil for sound without a cover and for what is rejected.
    public let render: RenderRequest?
    /// The thumbnail time to emit.
    public let thumbnailTime: ThumbnailTime?
    /// The rectangle to emit, in the attachment's own orientation.
    public let clippingRect: ClippingRect?
    public let warnings: [PreparationWarning]
    /// Why nothing can be delivered.
    public let error: AttachPrepError?

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
        self.init(
            outcome: .rejected, reasons: [error.message], steps: [], passedType: nil, render: nil,
            thumbnailTime: nil, clippingRect: nil, warnings: [], error: error)
    }

    init(
        outcome: Outcome, reasons: [String], steps: [String], passedType: AttachmentType?, render: RenderRequest?,
        thumbnailTime: ThumbnailTime?, clippingRect: ClippingRect?, warnings: [PreparationWarning],
        error: AttachPrepError?
    ) {
        self.outcome = outcome
        self.reasons = reasons
        self.steps = steps
        self.passedType = passedType
        self.render = render
        self.thumbnailTime = thumbnailTime
        self.clippingRect = clippingRect
        self.warnings = warnings
        self.error = error
    }
}
