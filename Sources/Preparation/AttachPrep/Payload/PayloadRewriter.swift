public import AttachPrepModel
import FoundationEssentials
import MediaEngine
public import PushPayload
public import RichPush

/// What is searched for in a payload.
public struct MediaSearch: Sendable {
    /// The only dialect to read the payload by; nil detects it.
    public var dialect: PayloadDialect?
    /// The systems that media is prepared for.
    public var targets: Set<MediaTarget>
    /// Whether an alert without media is accepted, because its arrival is counted.
    public var acceptsText: Bool

    public init(dialect: PayloadDialect? = nil, targets: Set<MediaTarget> = [.ios], acceptsText: Bool = false) {
        self.dialect = dialect
        self.targets = targets
        self.acceptsText = acceptsText
    }
}

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
    /// The systems that media is prepared for.
    let targets: Set<MediaTarget>

    /// - Throws: `payload.no_media`.
    public init(_ document: PayloadDocument, search: MediaSearch = MediaSearch()) throws {
        self.document = document
        let dialect = search.dialect
        do {
            media = try PayloadReader.media(in: document.value, dialect: dialect, targets: search.targets)
        } catch let error as PayloadError {
            let text = search.acceptsText ? PayloadReader.text(in: document.value) : nil
            guard error.code == .payloadNoMedia, let text else { throw AttachPrepError(error) }
            media = text
        }
        targets = media.targets(named: search.targets)
        sandboxMedia = PayloadReader.sandboxMedia(besides: media, in: document.value, dialect: dialect)
    }

    /// Parses the payload and finds its media.
    ///
    /// - Throws: `payload.invalid`, `payload.too_large`, `payload.no_media`.
    public init(_ payload: [UInt8], search: MediaSearch = MediaSearch()) throws {
        try self.init(AttachPrepError.converting { try PayloadDocument(payload) }, search: search)
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

    /// Size in bytes of what iOS receives; of web push, of the message.
    public var bytes: Int { (try? PayloadShare(media).bytes(of: document)) ?? 0 }

    /// The limit for `bytes`.
    public var bytesMax: Int { PayloadShare(media).bytesMax }

    /// Warnings about the payload as it is; nothing is fetched.
    public var warnings: [PayloadWarning] {
        let found = [media, sandboxMedia].compactMap(\.self).map {
            [$0.warnings, PayloadCheck.warnings(for: document.value, media: $0, targets: targets)].flatMap(\.self)
        }
        return found.flatMap(\.self) + PayloadCheck.sizeWarnings(for: document, media: media)
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
        if template.seal {
            for media in [media, sandboxMedia].compactMap(\.self) {
                try Self.checkSealable(media, in: document.value, addsNeutralObject: addsNeutralObject)
            }
        }
        let shared = SharedPreparations()
        var result = PayloadResult(payload: document.bytes, manifests: [], warnings: [], isComplete: true)
        for media in [media, sandboxMedia].compactMap(\.self) {
            let preparations = MediaPreparations(of: media, targets: targets, template: template)
            let prepared = try await preparations.results { try await shared.manifest(of: $0, prepare) }
            let written: WrittenPayload
            do {
                written = try PayloadWriter.write(
                    PayloadDocument(result.payload), media: media, prepared: prepared.items.map(\.prepared),
                    otherPrepared: prepared.otherItems.map(\.prepared), targets: targets, receipt: receipt,
                    addsNeutralObject: addsNeutralObject)
            } catch let error as PayloadError {
                guard error.code == .payloadTooLarge, bytes <= bytesMax, !template.seal else {
                    throw AttachPrepError(error)
                }
                return notRewritten(prepared, because: error)
            }
            result.payload = written.bytes
            for warnings in [
                media.warnings, prepared.timeWarnings, written.warnings, try check(at: written.bytes, media),
            ] {
                // The type of a sealed file is inside.
                result.warnings.append(
                    contentsOf: template.seal ? warnings.filter { $0.code != .extensionMissing } : warnings)
            }
            result.isComplete = result.isComplete && prepared.isComplete
            for manifest in prepared.manifests where !result.manifests.contains(manifest) {
                result.manifests.append(manifest)
            }
        }
        return result
    }

    /// - Throws: `request.invalid` for a payload that does not carry the secret to a phone, and for media that another
    ///   system would show without opening it.
    private static func checkSealable(
        _ media: PayloadMedia, in value: PayloadValue, addsNeutralObject: Bool
    ) throws {
        let reason: String? =
            if !addsNeutralObject {
                "the secret is in the object attachprep, which must not be left out"
            } else if media.isWebPush || media.isLiveActivity {
                "no service extension opens media of web push and Live Activities"
            } else if !media.items.isEmpty, !media.hasPayload(in: value) {
                "it has no APNs payload for the secret, since \(media.dialect.service) builds that; give the APNs "
                    + "payload"
            } else if let other = (media.otherItems + media.items.filter { $0.location.sharing == .always }).first {
                "\(PrintableText.path(other.path)) is also shown by Android or a browser, which does not open it; "
                    + "give a payload for iOS alone"
            } else {
                nil
            }
        guard let reason else { return }
        throw AttachPrepError(.requestInvalid, "Media of this payload cannot be sealed: \(reason).")
    }

    private func notRewritten(_ prepared: MediaResults, because error: PayloadError) -> PayloadResult {
        let warning = PayloadWarning(
            .notRewritten, "The payload was not rewritten and is returned as it was. \(error.message)")
        return PayloadResult(
            payload: document.bytes, manifests: prepared.manifests, warnings: [warning] + warnings,
            isComplete: prepared.isComplete)
    }

    /// Warnings that remain after rewriting.
    private func check(at payload: [UInt8], _ before: PayloadMedia) throws -> [PayloadWarning] {
        let document = try AttachPrepError.converting { try PayloadDocument(payload) }
        let media =
            (try? PayloadReader.media(in: document.value, dialect: before.dialect, targets: targets))
            ?? PayloadReader.text(in: document.value)
        return PayloadCheck.warnings(for: document.value, media: media, targets: targets)
            + PayloadCheck.sizeWarnings(for: document, media: media ?? before)
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
