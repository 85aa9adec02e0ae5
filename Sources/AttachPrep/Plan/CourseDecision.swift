import MediaEngine
import RichPush
import SafeArithmetic

/// Whether a file is passed, converted, shrunk or refused. Pure.
struct CourseDecision {
    let media: InspectedMedia
    let bytes: Int
    let request: AttachmentRequest

    private var limit: Int { request.bytesMax(for: media.kind) }
    private var isDisplay: Bool { request.rendition == .display }
    private var renditions: RenditionChoice { RenditionChoice(media: media, bytes: bytes, request: request) }

    /// The course.
    ///
    /// - Throws: `limit.exceeded`, `media.unsupported` or `media.corrupt` where the request refuses what would be
    ///   needed.
    func course() throws -> Course {
        if let damage = media.damage { return try repair(damage) }
        if media.isAnimated, request.options.animation != .gif { return animation(as: request.options.animation) }
        switch Attachability(media) {
        case .native(let type): return try native(type)
        case .foreign(let reason): return try convert(reason)
        }
    }

    // MARK: Attachable

    private func native(_ type: AttachmentType) throws -> Course {
        guard bytes <= limit else { return try oversize() }
        if isDisplay, let excess = DisplayExcess(media: media, bytes: bytes).reason {
            return .rewrite(renditions.rendition(), .shrunk, reason: excess)
        }
        if renditions.bakesRotation {
            return .rewrite(
                renditions.rendition(), .converted, reason: "the movie is stored turned and is to be upright")
        }
        return .pass(
            type, reason: "\(type.mimeType) is attachable and \(bytes.grouped) bytes are within \(limit.grouped)")
    }

    private func oversize() throws -> Course {
        guard request.oversize == .shrink else {
            throw AttachPrepError(
                .limitExceeded,
                "The \(media.kind.rawValue) is \(bytes.grouped) bytes, over the limit of \(limit.grouped); allow it "
                    + "to be shrunk (oversize: shrink) or send a smaller file.")
        }
        return .rewrite(
            renditions.rendition(), .shrunk, reason: "\(bytes.grouped) bytes are over the limit of \(limit.grouped)")
    }

    // MARK: Not attachable

    private func convert(_ reason: String) throws -> Course {
        guard request.unsupported == .convert else {
            throw AttachPrepError(
                .mediaUnsupported,
                "The source cannot be attached as it is (\(reason)); allow conversion (unsupported: convert) or send "
                    + "another type.")
        }
        return .rewrite(renditions.rendition(), .converted, reason: reason)
    }

    private func repair(_ damage: MediaDamage) throws -> Course {
        let reason = "the file is damaged: \(held(damage))"
        guard request.unsupported == .convert else {
            throw AttachPrepError(
                .mediaCorrupt,
                "The source is damaged (\(reason)); allow conversion (unsupported: convert) to have it repaired.")
        }
        return .rewrite(renditions.rendition(), .converted, reason: reason)
    }

    private func held(_ damage: MediaDamage) -> String {
        // Bounded: floating point.
        if let share = damage.intactShare { return "\(Int(clamping: share * 100)) % of the picture can be read" }
        let (held, declared) = (Self.shown(media.duration ?? 0), Self.shown(damage.declaredDuration ?? 0))
        return held == declared ? "less than 0.1 of \(declared) s is lost" : "\(held) of \(declared) s can be read"
    }

    // Bounded: floating point.
    private static func shown(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10)" }

    // MARK: Animations as something else

    private func animation(as target: AnimationTarget) -> Course {
        switch target {
        case .mp4:
            return .rewrite(.movie(renditions.movie()), .converted, reason: "an animation is to become a movie")
        case .still, .gif:
            var course = Course.rewrite(
                .still(renditions.still()), .converted, reason: "an animation is to become a still picture")
            course.warnings = [
                PreparationWarning(.animationLost, "The animation of \(media.frames ?? 0) frames is delivered as one.")
            ]
            return course
        }
    }
}
