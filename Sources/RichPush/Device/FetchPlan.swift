/// What a device fetches for one notification, in the order in which it tries.
///
/// The first attachment that arrives is the one to show. A thumbnail stands in for attachments that do not arrive, or
/// not in time: `FetchDeadline` says when it is fetched.
public struct FetchPlan: Sendable, Hashable {
    public let attachments: [FetchCandidate]
    public let thumbnails: [FetchCandidate]

    public init(_ content: PushContent) {
        let items = content.attachments.prefix(Limits.payloadMediaMax)
        // Some payloads name one picture twice: nothing is fetched twice.
        var known: Set<FetchCandidate.Source> = []
        attachments = items.compactMap(FetchCandidate.init(attachment:)).filter { known.insert($0.source).inserted }
        thumbnails = items.compactMap(FetchCandidate.init(thumbnailOf:)).filter { known.insert($0.source).inserted }
    }

    /// Whose thumbnail the collapsed notification shows when an attachment hides its own: the next one that does not.
    ///
    /// Both are attached then: the first is what the expanded notification shows.
    public func companion(of candidate: FetchCandidate) -> FetchCandidate? {
        guard candidate.options.thumbnailHidden == true, let index = attachments.firstIndex(of: candidate) else {
            return nil
        }
        // Bounded: an index of the list; the one behind the last begins an empty part.
        return attachments[(index + 1)...].first { $0.options.thumbnailHidden != true }
    }

    /// Nothing to wait for: the notification goes out as it is.
    public var isEmpty: Bool { attachments.isEmpty && thumbnails.isEmpty }
}
