/// A payload with its neutral object, within APNs' limit: what is optional goes, step after step, until it fits.
struct FittedPayload {
    /// With its media, without the neutral object of this time.
    let base: PayloadDocument
    let root: PayloadPath
    let content: PushContent
    private(set) var warnings: [PayloadWarning] = []

    init(base: PayloadDocument, root: PayloadPath, content: PushContent) {
        self.base = base
        self.root = root
        self.content = content
    }

    /// Throws `payload.too_large`.
    mutating func fitted() throws(AttachPrepError) -> PayloadDocument {
        var (isCompact, content) = (false, content)
        var document = try complete(content, isCompact: isCompact)
        for reduction in PayloadReduction.allCases {
            if try size(of: document) <= Limits.payloadBytesMax { return document }
            isCompact = isCompact || reduction == .whitespace
            content = reduction.applied(to: content)
            let reduced = try complete(content, isCompact: isCompact)
            if reduced != document { warnings.append(Self.warning(of: reduction)) }
            document = reduced
        }
        guard try size(of: document) <= Limits.payloadBytesMax else { throw try tooLarge(document) }
        return document
    }

    /// With a neutral object at the end of the APNs payload, unless there is nothing to say.
    private func complete(_ content: PushContent, isCompact: Bool) throws(AttachPrepError) -> PayloadDocument {
        var document = isCompact ? try base.compacted(at: root) : base
        let there = try document.value(at: root)[PushContent.key]
        if content.isEmpty {
            if there != nil { try document.apply([.remove(root.appending(.key(PushContent.key)))]) }
        } else if there != content.payloadValue {
            try document.apply([.set(key: PushContent.key, content.payloadValue, in: root)])
        }
        return document
    }

    private func size(of document: PayloadDocument) throws(AttachPrepError) -> Int {
        try document.bytes(at: root).count
    }

    private static func warning(of reduction: PayloadReduction) -> PayloadWarning {
        let limit = Limits.payloadBytesMax.grouped
        return PayloadWarning(
            .partDropped,
            "To stay within APNs' \(limit) bytes the payload goes without \(reduction.part): \(reduction.reason); "
                + "shorten texts or keys to keep it.")
    }

    private func tooLarge(_ document: PayloadDocument) throws(AttachPrepError) -> AttachPrepError {
        let bytes = try size(of: document)
        let (path, part) = try document.value(at: root).largestPart
        // Bounded: counts of what is in memory.
        let over = (bytes - Limits.payloadBytesMax).grouped
        return AttachPrepError(
            .payloadTooLarge,
            "The payload is \(bytes.grouped) bytes without all that may go, over APNs' "
                + "\(Limits.payloadBytesMax.grouped); shorten it by \(over), for example "
                + "\(SpokenText.path(path)), which has \(part.grouped).")
    }
}

extension PayloadDocument {
    /// What stands at a path; `internal` where nothing does.
    func value(at path: PayloadPath) throws(AttachPrepError) -> PayloadValue {
        guard let value = value.standing(at: path) else { throw PayloadText.missing(path) }
        return value
    }
}

extension PayloadValue {
    /// The member that takes most bytes, and within it the one that takes most, as long as it is most of it.
    fileprivate var largestPart: (path: PayloadPath, bytes: Int) {
        var (path, part) = (PayloadPath(), self)
        while let largest = part.members?.max(by: { $0.value.size < $1.value.size }),
            // Bounded: counts of what is in memory.
            path.steps.isEmpty || largest.value.size * 2 > part.size
        {
            path = path.appending(.key(largest.key))
            part = largest.value
        }
        return (path, part.size)
    }

    private var size: Int { PayloadLayout.compact.spelled(self).count }
}
