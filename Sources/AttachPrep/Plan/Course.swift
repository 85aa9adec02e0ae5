import MediaEngine
import RichPush

/// What becomes of the file itself, and why.
struct Course: Hashable {
    enum Direction: Hashable {
        /// Delivered byte for byte.
        case pass(AttachmentType)
        /// Written anew.
        case rewrite(AttachmentRendition)
    }

    let direction: Direction
    let outcome: Outcome
    let reason: String
    var warnings: [PreparationWarning] = []

    static func pass(_ type: AttachmentType, reason: String) -> Course {
        Course(direction: .pass(type), outcome: .passed, reason: reason)
    }

    static func rewrite(_ rendition: AttachmentRendition, _ outcome: Outcome, reason: String) -> Course {
        Course(direction: .rewrite(rendition), outcome: outcome, reason: reason)
    }

    /// The rendition, when it is written anew.
    var rendition: AttachmentRendition? {
        if case .rewrite(let rendition) = direction { rendition } else { nil }
    }
}
