public import RichPush

/// The recipe of a payload: prepare each piece of media, write what became of it, look at the result once more.
extension PayloadOrder {
    /// Rewrites the payload.
    ///
    /// - Parameters:
    ///   - template: what is asked of all media; its source is not looked at.
    ///   - receipt: where devices say that it arrived.
    ///   - addsNeutralObject: whether the member `attachprep` is added.
    ///   - prepare: prepares one request, whose files then have public addresses.
    /// - Throws: `payload.too_large`, and what `prepare` throws.
    public func rewritten(
        asking template: AttachmentRequest, receipt: PushReceipt? = nil, addsNeutralObject: Bool = true,
        prepare: @escaping @Sendable (AttachmentRequest) async throws -> Manifest
    ) async throws -> PayloadResult {
        let shared = SharedPreparation(prepare)
        var result = PayloadResult(payload: document.bytes, manifests: [], warnings: [], isComplete: true)
        for media in [media, sandboxMedia].compactMap(\.self) {
            let ends = try await Self.prepared(media, template) { try await shared.manifest(of: $0) }
            let written = try PayloadWriter.write(
                PayloadDocument(result.payload), media: media, prepared: ends.map(\.prepared), receipt: receipt,
                addsNeutralObject: addsNeutralObject)
            result.payload = written.bytes
            for warnings in [
                media.warnings, Self.timeWarnings(ends), written.warnings, try Self.look(at: written.bytes, media),
            ] { result.warnings.append(contentsOf: warnings) }
            result.isComplete =
                result.isComplete && !ends.contains { if case .failed = $0.prepared { true } else { false } }
            for manifest in ends.flatMap(\.manifests) where !result.manifests.contains(manifest) {
                result.manifests.append(manifest)
            }
        }
        return result
    }

    /// A thumbnail time that the media does not have: what is written back is another.
    private static func timeWarnings(_ ends: [End]) -> [PayloadWarning] {
        ends.flatMap { $0.manifests.last?.warnings ?? [] }.filter { $0.code == .timePastEnd }
            .map { PayloadWarning(.optionInvalid, $0.message) }
    }

    /// What is still wrong with it: what was not ours to mend.
    private static func look(at payload: [UInt8], _ media: PayloadMedia) throws -> [PayloadWarning] {
        let document = try PayloadDocument(payload)
        let media = try? PayloadReader.media(in: document.value, dialect: media.dialect)
        return PayloadCheck.warnings(for: document.value, media: media)
    }

    /// What became of one item, and how it came about.
    private struct End: Sendable {
        var prepared: PreparedMedia
        var manifests: [Manifest] = []
    }

    /// All items at a time: there are few, and each request waits for its own place further on.
    private static func prepared(
        _ media: PayloadMedia, _ template: AttachmentRequest,
        _ prepare: @escaping @Sendable (AttachmentRequest) async throws -> Manifest
    ) async throws -> [End] {
        let isAlone = media.items.count == 1
        return try await withThrowingTaskGroup(of: (Int, End).self) { group in
            for (number, item) in media.items.enumerated() {
                group.addTask {
                    let request = { template.asking(for: $0, of: item, number: isAlone ? nil : number) }
                    return (number, try await end(of: item, request, prepare))
                }
            }
            var ends: [Int: End] = [:]
            for try await (number, end) in group { ends[number] = end }
            return media.items.indices.compactMap { ends[$0] }
        }
    }

    private static func end(
        of item: PayloadMediaItem, _ request: (String) -> AttachmentRequest,
        _ prepare: (AttachmentRequest) async throws -> Manifest
    ) async throws -> End {
        guard case .url(let address) = item.address else { return End(prepared: .untouched) }
        let manifest = try await prepare(request(address))
        guard let error = manifest.undelivered else { return End(prepared: .ready(manifest), manifests: [manifest]) }
        guard let address = item.fallbackURL else { return End(prepared: .failed(error), manifests: [manifest]) }
        let second = try await prepare(request(address))
        let prepared: PreparedMedia = second.undelivered == nil ? .fallback(second) : .failed(error)
        return End(prepared: prepared, manifests: [manifest, second])
    }
}

extension Manifest {
    /// Why a phone cannot fetch it; nil when it can.
    fileprivate var undelivered: ManifestError? {
        if let error { return error }
        guard attachment?.url == nil else { return nil }
        return ManifestError(
            AttachPrepError(
                .internal, "The attachment has no public address; try again.", detail: "a manifest without a URL"))
    }
}
