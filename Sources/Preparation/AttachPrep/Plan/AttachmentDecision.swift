import AttachPrepModel
package import MediaEngine
package import MediaTypes
import SafeArithmetic

/// How the attachment is made from the source, and why.
struct AttachmentDecision: Hashable {
    enum Action: Hashable {
        /// Delivered byte for byte.
        case pass(AttachmentType)
        /// Encoded again, or copied into another container.
        case rewrite(AttachmentRendition)
    }

    let action: Action
    let outcome: Outcome
    let reason: String
    var warnings: [PreparationWarning] = []

    static func pass(_ type: AttachmentType, reason: String) -> AttachmentDecision {
        AttachmentDecision(action: .pass(type), outcome: .passed, reason: reason)
    }

    static func rewrite(_ rendition: AttachmentRendition, outcome: Outcome, reason: String) -> AttachmentDecision {
        AttachmentDecision(action: .rewrite(rendition), outcome: outcome, reason: reason)
    }

    /// The rendition when the attachment is written; nil when the source is delivered unchanged.
    var rendition: AttachmentRendition? {
        if case .rewrite(let rendition) = action { rendition } else { nil }
    }
}

/// Decides whether a file is delivered unchanged, converted, shrunk or rejected. Pure.
struct AttachmentPlanner {
    let media: InspectedMedia
    let bytes: Int
    let request: AttachmentRequest

    private var limit: Int { request.bytesMax(for: media.kind) }
    private var isDisplay: Bool { request.rendition == .display }
    private var renditions: RenditionPlanner { RenditionPlanner(media: media, bytes: bytes, request: request) }

    /// The decision.
    ///
    /// - Throws: `limit.exceeded`, `media.unsupported` or `media.corrupt` when the request forbids the conversion that
    ///   would be needed.
    func decision() throws -> AttachmentDecision {
        if let damage = media.damage { return try repair(damage) }
        if media.isAnimated, request.options.animation != .gif { return animation(as: request.options.animation) }
        if media.isAnimated, !request.accepts(.gif) { return animation(as: .still) }
        switch Attachability(media) {
        case .attachable(let type) where !request.accepts(type):
            return try convert(
                "\(type.mimeType) is not among the accepted types: \(request.acceptedNames(of: type.kind))")
        case .attachable(let type): return try attachable(type)
        case .notAttachable(let reason): return try convert(reason)
        }
    }

    // MARK: Attachable

    private func attachable(_ type: AttachmentType) throws -> AttachmentDecision {
        guard bytes <= limit else { return try oversize() }
        if isDisplay, let excess = DisplayLimitCheck(media: media, bytes: bytes).reason {
            return .rewrite(renditions.rendition(), outcome: .shrunk, reason: excess)
        }
        if renditions.bakesRotation {
            return .rewrite(
                renditions.rendition(), outcome: .converted,
                reason: "the movie is stored rotated and must be encoded upright")
        }
        return .pass(
            type, reason: "\(type.mimeType) is attachable and \(bytes.grouped) bytes are within \(limit.grouped)")
    }

    private func oversize() throws -> AttachmentDecision {
        guard request.oversize == .shrink else {
            throw AttachPrepError(
                .limitExceeded,
                "The \(media.kind.rawValue) is \(bytes.grouped) bytes, over the limit of \(limit.grouped); allow "
                    + "shrinking (oversize: shrink) or send a smaller file.")
        }
        return .rewrite(
            renditions.rendition(), outcome: .shrunk,
            reason: "\(bytes.grouped) bytes are over the limit of \(limit.grouped)")
    }

    // MARK: Not attachable

    private func convert(_ reason: String) throws -> AttachmentDecision {
        guard request.unsupported == .convert else {
            throw AttachPrepError(
                .mediaUnsupported,
                "The source cannot be attached unchanged (\(reason)); allow conversion (unsupported: convert) or send "
                    + "another type.")
        }
        return .rewrite(renditions.rendition(), outcome: .converted, reason: reason)
    }

    private func repair(_ damage: MediaDamage) throws -> AttachmentDecision {
        let reason = damageReason(damage)
        guard request.unsupported == .convert else {
            throw AttachPrepError(
                .mediaCorrupt,
                "The source is damaged (\(reason)); allow conversion (unsupported: convert) to repair it.")
        }
        return .rewrite(renditions.rendition(), outcome: .converted, reason: reason)
    }

    private func damageReason(_ damage: MediaDamage) -> String {
        if let share = damage.intactShare {
            if share == 1 { return "the file is cut off: all of the image can be read, in less detail" }
            return "the file is damaged: \(Int(clamping: share * 100)) % of the image can be read"
        }
        let (intact, declared) = (Self.shown(media.duration ?? 0), Self.shown(damage.declaredDuration ?? 0))
        let loss =
            intact == declared ? "under 0.1 s of \(declared) s is lost" : "\(intact) of \(declared) s can be read"
        return "the file is damaged: \(loss)"
    }

    private static func shown(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10)" }

    // MARK: Animations in other formats

    private func animation(as target: AnimationTarget) -> AttachmentDecision {
        switch target {
        case .mp4:
            return .rewrite(
                .movie(renditions.movie()), outcome: .converted, reason: "the animation is converted to a movie")
        case .still, .gif:
            var decision = AttachmentDecision.rewrite(
                .still(renditions.still()), outcome: .converted, reason: "the animation is converted to a still image")
            decision.warnings = [
                PreparationWarning(.animationLost, "The animation of \(media.frames ?? 0) frames became a still image.")
            ]
            return decision
        }
    }
}

/// Whether iOS attaches a file unchanged, by container and codec. Pure.
///
/// Source: `docs/reference/apple-attachment-rules.md`, section 1.1.
package enum Attachability: Sendable, Hashable {
    /// Attachable byte for byte as that type.
    case attachable(AttachmentType)
    /// Not attachable, with the reason.
    case notAttachable(reason: String)

    /// The decision.
    package init(_ media: InspectedMedia) {
        switch media.containerDefect {
        case .mediaDataExceedsFile:
            self = .notAttachable(
                reason: "the media data box is declared longer than the file, though every sample is present")
        case .trailingData:
            self = .notAttachable(reason: "other data follows the movie")
        case .fragmented:
            self = .notAttachable(reason: "the file is fragmented, and iOS is not known to play fragments")
        case .tracksDisabled:
            self = .notAttachable(reason: "all tracks of the file are disabled")
        case .editWithoutEnd:
            self = .notAttachable(reason: "an edit of the file has no duration, of which some players show nothing")
        case .parameterSetsMissing:
            self = .notAttachable(reason: "the header lacks parameter sets that only the samples have")
        case .parameterSetsChange:
            self = .notAttachable(reason: "the video changes its size or its parameter sets in the middle")
        case .trailerMissing:
            self = .notAttachable(
                reason: media.format == .gif
                    ? "the GIF ends after a frame, without its trailer"
                    : "the file ends without its end marker, although all of the image is there")
        case .rareCoding:
            self = .notAttachable(reason: "the JPEG is coded arithmetically or without Huffman tables")
        case .orientationInText:
            self = .notAttachable(reason: "only some decoders turn the PNG by the orientation in its text chunk")
        case .samplesNotCounted:
            self = .notAttachable(reason: "the WAV header does not state the number of samples")
        case nil:
            self =
                switch media.kind {
                case .image: Self.image(media)
                case .audio: Self.audio(media)
                case .movie: Self.movie(media)
                }
        }
    }

    /// Whether iOS shows a source unchanged: intact, attachable and within Apple's limit; nil while that is unknown.
    ///
    /// - Parameter isRendered: Whether an image was made of it; of a still, inspection may read only the header.
    static func showsUnchanged(_ media: InspectedMedia, bytes: Int, isRendered: Bool) -> Bool? {
        guard media.damage == nil, case .attachable(let type) = Attachability(media), bytes <= type.bytesMax else {
            return false
        }
        return media.isValidated && (isRendered || media.kind != .image) ? true : nil
    }

    private static func image(_ media: InspectedMedia) -> Attachability {
        // iOS shows an animated PNG as a still image, so delivering it unchanged would lose the animation.
        if media.format == .png, media.isAnimated {
            return .notAttachable(reason: "iOS shows an animated PNG as a still image")
        }
        return byType(media)
    }

    private static func byType(_ media: InspectedMedia) -> Attachability {
        guard let type = media.format.attachmentType else {
            return .notAttachable(reason: "\(media.format.mimeType) is not an attachable type")
        }
        return .attachable(type)
    }

    private static func audio(_ media: InspectedMedia) -> Attachability {
        guard case .attachable(let type) = byType(media) else { return byType(media) }
        if let other = media.audio.first(where: { !PlayableStreams.plays($0, in: type) }) {
            return .notAttachable(reason: "iOS does not play \(type.mimeType) with \(describe(other))")
        }
        return .attachable(type)
    }

    private static func movie(_ media: InspectedMedia) -> Attachability {
        guard case .attachable(let type) = byType(media) else { return byType(media) }
        guard let video = media.video, PlayableStreams.plays(video, in: type) else {
            return .notAttachable(
                reason: "iOS does not play \(type.mimeType) with \(media.video.map(describe) ?? "no video")")
        }
        if let other = media.audio.first(where: { !PlayableStreams.plays($0, in: type) }) {
            return .notAttachable(reason: "iOS does not play \(type.mimeType) with \(describe(other)) audio")
        }
        return .attachable(type)
    }

    /// Codec, profile, pixel format and tag, as far as known.
    private static func describe(_ video: VideoStream) -> String {
        let parts = [video.codec, video.profile, video.pixelFormat].compactMap { $0 }.joined(separator: " ")
        return video.codecTag.isEmpty ? parts : "\(parts) tagged \(video.codecTag)"
    }

    private static func describe(_ audio: AudioStream) -> String {
        [audio.codec, audio.profile].compactMap { $0 }.joined(separator: " ")
    }
}

/// Whether an attachable file exceeds what a notification shows, or what a phone fetches in time. Pure.
struct DisplayLimitCheck {
    let media: InspectedMedia
    let bytes: Int

    /// Why the file must be rewritten; nil when it can be delivered unchanged.
    var reason: String? {
        switch media.kind {
        case .image: imageReason
        case .audio: audioReason
        case .movie: movieReason
        }
    }

    private var longSide: Int { max(media.width ?? 0, media.height ?? 0) }
    private var shortSide: Int { min(media.width ?? 0, media.height ?? 0) }
    private var size: String { "\(media.width ?? 0) x \(media.height ?? 0)" }

    private var imageReason: String? {
        let most =
            media.isAnimated ? Limits.displayAnimationSidePixelsMax : Limits.displayImageSidePixelsMax
        if longSide > most { return "\(size) pixels exceed the \(most) that a notification shows" }
        return media.hasMetadata || media.hasLocation ? "metadata must be removed" : nil
    }

    private var audioReason: String? {
        let rate = Double(media.audioBytes(in: bytes)) * 8 / max(media.duration ?? 0, 0.001)
        let most = Double(Limits.displayAudioBitsPerSecondMax)
        if rate > most * Limits.displayRateTolerance {
            let (has, needs) = (Int(clamping: rate / 1000), Int(clamping: most / 1000))
            return "\(has) kbit/s exceed the \(needs) that a notification needs"
        }
        return media.hasCoverArt || media.hasLocation || media.format == .mpeg4Audio && media.hasMetadata
            ? "metadata must be removed" : nil
    }

    private var movieReason: String? {
        if movieIsTooLarge {
            let rate = media.video?.frameRate.map { " at \(($0 * 10).rounded() / 10) frames per second" } ?? ""
            let most = Int(clamping: Limits.displayFramesPerSecondMax)
            return "\(size) pixels\(rate) exceed the 720p at \(most) that a notification shows"
        }
        let carries = media.hasLocation || media.format == .mpeg4 && media.hasMetadata
        return carries ? "metadata must be removed" : nil
    }

    /// Whether the video has to be encoded: its resolution or its frame rate is too high.
    var movieIsTooLarge: Bool {
        longSide > Limits.displayMovieLongSidePixelsMax || shortSide > Limits.displayMovieShortSidePixelsMax
            || (media.video?.frameRate ?? 0) > Limits.displayFramesPerSecondMax * Limits.displayRateTolerance
    }
}

extension InspectedMedia {
    /// Bytes of the audio in an audio file, without tags and cover art, as far as its bit rate is known.
    func audioBytes(in bytes: Int) -> Int {
        guard let rate = audio.first?.bitRate, let duration else { return bytes }
        return min(bytes, Int(clamping: Double(rate) / 8 * max(0, duration)))
    }
}

extension Limits {
    /// The widest phone shows an image in a notification at 424 points with 3 pixels per point.
    static let displayImageSidePixelsMax = 1_280
    /// Longer side of 720p video.
    static let displayMovieLongSidePixelsMax = 1_280
    /// Shorter side of 720p video.
    static let displayMovieShortSidePixelsMax = 720
    /// Higher frame rates do not matter in a notification.
    static let displayFramesPerSecondMax = 30.0
    /// GIF takes about one byte per pixel; 480 pixels still fill a notification at 1x.
    static let displayAnimationSidePixelsMax = 480
    /// The bit rate from which AAC stereo sounds uncompressed on a phone's loudspeaker.
    static let displayAudioBitsPerSecondMax = 96_000
    /// Declared bit rates are rounded: a rate up to 5 % over the limit is accepted.
    static let displayRateTolerance = 1.05
}
