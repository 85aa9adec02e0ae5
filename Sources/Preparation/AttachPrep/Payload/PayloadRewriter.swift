public import AttachPrepModel
import FoundationEssentials
import MediaEngine
public import PushPayload
public import RichPush

/// A payload to rewrite, and the media found in it.
///
/// ```swift
/// let rewriter = try PayloadRewriter(bytes)
/// let result = try await rewriter.rewritten(applying: AttachmentRequest(source: "")) { await preparer.prepare($0) }
/// ```
public struct PayloadRewriter: Sendable {
    public let document: PayloadDocument
    public let media: PayloadMedia
    /// The media of the `APNS_SANDBOX` message in an SNS request that has both messages; nil otherwise.
    let sandboxMedia: PayloadMedia?

    /// - Parameters:
    ///   - document: The payload.
    ///   - dialect: The only dialect to read the payload by; nil detects it.
    /// - Throws: `payload.no_media`.
    public init(_ document: PayloadDocument, dialect: PayloadDialect? = nil) throws {
        self.document = document
        media = try AttachPrepError.converting { try PayloadReader.media(in: document.value, dialect: dialect) }
        sandboxMedia = PayloadReader.sandboxMedia(besides: media, in: document.value, dialect: dialect)
    }

    /// Parses the payload and finds its media.
    ///
    /// - Throws: `payload.invalid`, `payload.too_large`, `payload.no_media`.
    public init(_ payload: [UInt8], dialect: PayloadDialect? = nil) throws {
        try self.init(AttachPrepError.converting { try PayloadDocument(payload) }, dialect: dialect)
    }

    /// The dialect that `--dialect` or `--media-key` names; nil without either.
    ///
    /// - Throws: `request.invalid` when both are given, and for an unknown dialect.
    public static func dialect(named name: String?, mediaKey: String?) throws -> PayloadDialect? {
        switch (name, mediaKey) {
        case (nil, nil): return nil
        case (let name?, nil): return try AttachPrepError.converting { try PayloadDialect.named(name) }
        case (nil, let key?): return try AttachPrepError.converting { try PayloadDialect.custom(mediaKey: key) }
        default:
            throw AttachPrepError(
                .requestInvalid, "A dialect and a media key exclude each other; give one of them.")
        }
    }

    /// Size of the APNs payload in bytes.
    public var bytes: Int { (try? document.bytes(at: media.root).count) ?? 0 }

    /// Warnings about the payload as it is; nothing is fetched.
    public var warnings: [PayloadWarning] {
        let size = bytes > Limits.payloadBytesMax ? [PayloadWarning.tooLarge(bytes: bytes)] : []
        let found = [media, sandboxMedia].compactMap(\.self).map {
            [$0.warnings, PayloadCheck.warnings(for: document.value, media: $0)].flatMap(\.self)
        }
        return found.flatMap(\.self) + size
    }
}

extension PayloadWarning {
    fileprivate static func tooLarge(bytes: Int) -> PayloadWarning {
        PayloadWarning(
            .tooLarge,
            "The payload has \(bytes.grouped) bytes, over the APNs limit of \(Limits.payloadBytesMax.grouped); "
                + "shorten texts or remove keys.")
    }
}

/// Rewriting: prepares each piece of media, writes the results into the payload, and checks the payload again.
extension PayloadRewriter {
    /// Rewrites the payload.
    ///
    /// - Parameters:
    ///   - template: Options for all media; its source is ignored.
    ///   - receipt: The URL and the token with which devices report the arrival.
    ///   - addsNeutralObject: Whether the member `attachprep` is added.
    ///   - prepare: Prepares one request and returns a manifest whose files have public URLs.
    /// - Returns: The payload as it was, with a warning, when it fits APNs' limit only with its own URLs: a sender can
    ///   still send it.
    /// - Throws: `payload.too_large` for a payload that is over the limit itself, and what `prepare` throws.
    public func rewritten(
        applying template: AttachmentRequest, receipt: PushReceipt? = nil, addsNeutralObject: Bool = true,
        prepare: @escaping @Sendable (AttachmentRequest) async throws -> Manifest
    ) async throws -> PayloadResult {
        let shared = SharedPreparations()
        var result = PayloadResult(payload: document.bytes, manifests: [], warnings: [], isComplete: true)
        for media in [media, sandboxMedia].compactMap(\.self) {
            let itemResults = try await Self.prepared(media, template) { try await shared.manifest(of: $0, prepare) }
            let written: WrittenPayload
            do {
                written = try PayloadWriter.write(
                    PayloadDocument(result.payload), media: media, prepared: itemResults.map(\.prepared),
                    receipt: receipt, addsNeutralObject: addsNeutralObject)
            } catch let error as PayloadError {
                guard error.code == .payloadTooLarge, bytes <= Limits.payloadBytesMax else {
                    throw AttachPrepError(error)
                }
                return notRewritten(itemResults, because: error)
            }
            result.payload = written.bytes
            for warnings in [
                media.warnings, Self.timeWarnings(itemResults), written.warnings,
                try Self.check(at: written.bytes, media),
            ] { result.warnings.append(contentsOf: warnings) }
            result.isComplete = result.isComplete && !itemResults.contains(where: \.isFailed)
            for manifest in itemResults.flatMap(\.manifests) where !result.manifests.contains(manifest) {
                result.manifests.append(manifest)
            }
        }
        return result
    }

    private func notRewritten(_ itemResults: [ItemResult], because error: PayloadError) -> PayloadResult {
        let warning = PayloadWarning(
            .notRewritten, "The payload was not rewritten and is returned as it was. \(error.message)")
        return PayloadResult(
            payload: document.bytes, manifests: itemResults.flatMap(\.manifests), warnings: [warning] + warnings,
            isComplete: !itemResults.contains(where: \.isFailed))
    }

    /// Warnings about thumbnail times past the end of the media: another time is written into the payload.
    private static func timeWarnings(_ itemResults: [ItemResult]) -> [PayloadWarning] {
        itemResults.flatMap { $0.manifests.last?.warnings ?? [] }.filter { $0.code == .timePastEnd }
            .map { PayloadWarning(.optionInvalid, $0.message) }
    }

    /// Warnings that remain after rewriting.
    private static func check(at payload: [UInt8], _ media: PayloadMedia) throws -> [PayloadWarning] {
        let document = try AttachPrepError.converting { try PayloadDocument(payload) }
        let media = try? PayloadReader.media(in: document.value, dialect: media.dialect)
        return PayloadCheck.warnings(for: document.value, media: media)
    }

    /// The result for one item, with the manifests that led to it.
    private struct ItemResult: Sendable {
        var prepared: PreparedMedia
        var manifests: [Manifest] = []

        var isFailed: Bool {
            if case .failed = prepared { true } else { false }
        }
    }

    /// Prepares all items concurrently: there are few, and each request waits for its own media slot.
    private static func prepared(
        _ media: PayloadMedia, _ template: AttachmentRequest,
        _ prepare: @escaping @Sendable (AttachmentRequest) async throws -> Manifest
    ) async throws -> [ItemResult] {
        let isAlone = media.items.count == 1
        return try await withThrowingTaskGroup(of: (Int, ItemResult).self) { group in
            for (number, item) in media.items.enumerated() {
                group.addTask {
                    let request = {
                        template.applying(for: $0, of: item, dialect: media.dialect, number: isAlone ? nil : number)
                    }
                    return (number, try await itemResult(of: item, request, prepare))
                }
            }
            var itemResults: [Int: ItemResult] = [:]
            for try await (number, itemResult) in group { itemResults[number] = itemResult }
            return media.items.indices.compactMap { itemResults[$0] }
        }
    }

    private static func itemResult(
        of item: PayloadMediaItem, _ request: (String) -> AttachmentRequest,
        _ prepare: (AttachmentRequest) async throws -> Manifest
    ) async throws -> ItemResult {
        guard case .url(let address) = item.address else { return ItemResult(prepared: .untouched) }
        let manifest = try await prepare(request(address))
        guard let error = manifest.undelivered else {
            return ItemResult(prepared: .ready(manifest), manifests: [manifest])
        }
        guard let address = item.fallbackURL else { return ItemResult(prepared: .failed(error), manifests: [manifest]) }
        let second = try await prepare(request(address))
        let prepared: PreparedMedia = second.undelivered == nil ? .fallback(second) : .failed(error)
        return ItemResult(prepared: prepared, manifests: [manifest, second])
    }
}

extension Manifest {
    /// Why a phone cannot fetch the attachment; nil when it can.
    fileprivate var undelivered: ManifestError? {
        if let error { return error }
        guard attachment?.url == nil else { return nil }
        return ManifestError(
            AttachPrepError(
                .internal, "The attachment has no public URL; try again.", detail: "a manifest without a URL"))
    }
}

extension AttachmentRequest {
    /// The request for one piece of media: options from the payload, else those of this template.
    ///
    /// The types that the service's SDK saves correctly are required, unless this template has its own.
    ///
    /// - Parameter number: The item's index among several, from 0, which is appended to the id; nil for a single item.
    func applying(
        for source: String, of item: PayloadMediaItem, dialect: PayloadDialect, number: Int?
    ) -> AttachmentRequest {
        var request = self
        request.source = source
        if attachmentTypes == nil, !dialect.attachmentTypes.isEmpty {
            request.attachmentTypes = AcceptedTypes(dialect.attachmentTypes)
        }
        if let id, let number { request.id = "\(id)-\(number)" }
        if let rect = item.options.clippingRect { request.options.crop = .part(rect) }
        if let time = item.options.thumbnailTime { request.options.thumbnailTime = .at(time) }
        if let isHidden = item.options.thumbnailHidden { request.options.thumbnailHidden = isHidden }
        return request
    }
}

/// A payload of several that failed.
public struct PayloadFailure: Encodable, Sendable {
    public let error: ManifestError

    public init(_ error: AttachPrepError) {
        self.error = ManifestError(error)
    }

    /// One line of JSON: `{"error": {"code", "message", …}}`.
    ///
    /// - Throws: What `JSONEncoder` throws; every value can be encoded.
    public func json() throws -> [UInt8] {
        Array(try JSONEncoder.singleLine.encode(self))
    }
}

/// A payload that can be sent, with the results for its media.
public struct PayloadResult: Sendable {
    /// JSON, unchanged except for the media.
    public var payload: [UInt8]
    /// One manifest per piece of media that was fetched, rejected ones included, in the payload's order.
    public var manifests: [Manifest]
    public var warnings: [PayloadWarning]
    /// Whether all media can be delivered.
    public var isComplete: Bool
}

extension PayloadResult {
    /// One line of JSON: `payload` byte for byte as rewritten, then `manifests` and `warnings`.
    ///
    /// - Throws: What `JSONEncoder` throws; every value of a result can be encoded.
    public func json() throws -> [UInt8] {
        let rest = try JSONEncoder.singleLine.encode(Remainder(manifests: manifests, warnings: warnings))
        return Array(#"{"payload":"#.utf8) + payload + Array(",".utf8) + rest.dropFirst()
    }

    private struct Remainder: Encodable {
        var manifests: [Manifest]
        var warnings: [PayloadWarning]
    }
}
