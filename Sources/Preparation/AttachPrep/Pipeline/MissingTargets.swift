import AttachPrepModel
import MediaTypes

/// Warnings about pictures for other systems that are missing in a result, one for each cause. Pure.
struct MissingTargets {
    private let keys: [String]
    private let renditions: Renditions
    private let kind: MediaKind
    private let hasImage: Bool

    /// - Parameters:
    ///   - keys: The pictures that were requested.
    ///   - hasImage: Whether the source has an image to show.
    init(_ keys: [String], renditions: Renditions, kind: MediaKind, hasImage: Bool) {
        (self.keys, self.renditions, self.kind, self.hasImage) = (keys, renditions, kind, hasImage)
    }

    var warnings: [PreparationWarning] {
        let missing = keys.filter { renditions.targets[$0] == nil }
        return Self.codes.compactMap { code in
            let names = missing.filter { cause(of: $0) == code }
            guard !names.isEmpty else { return nil }
            return PreparationWarning(code, sentence(code, names: names.joined(separator: ", ")))
        }
    }

    private static let codes: [PreparationWarning.Code] = [
        .targetNoImage, .targetTooLarge, .targetLate, .targetAvatarFailed,
    ]

    private func cause(of key: String) -> PreparationWarning.Code {
        if let code = renditions.missingTargets[key] { return code }
        return hasImage ? .targetLate : .targetNoImage
    }

    private func sentence(_ code: PreparationWarning.Code, names: String) -> String {
        switch code {
        case .targetNoImage where hasImage:
            "No \(names) was made: an opaque image has no silhouette; send a PNG with transparency."
        case .targetNoImage: "No \(names) was made: the \(kind.rawValue) has no image to show; send one with a cover."
        case .targetTooLarge: "No \(names) was made: no file within its limit shows the image."
        case .targetAvatarFailed: "No avatar was made: \(renditions.avatarError?.message ?? "its source failed.")"
        default: "No \(names) was made, because the time budget ran short; allow a larger budget."
        }
    }
}
