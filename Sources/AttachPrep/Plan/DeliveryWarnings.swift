import MediaEngine
import RichPush

/// What there is to say of the file that is delivered. Pure.
struct DeliveryWarnings {
    /// The codes this is about.
    static let codes: Set<PreparationWarning.Code> = [.videoRotated, .metadataKept]

    let media: InspectedMedia
    /// Whether the source is delivered byte for byte.
    let isSource: Bool
    /// How the delivered picture must be turned.
    let orientation: Orientation

    var warnings: [PreparationWarning] {
        var warnings: [PreparationWarning] = []
        if media.kind == .movie, orientation != .upright {
            warnings.append(
                PreparationWarning(
                    .videoRotated,
                    "The movie is stored turned; a device may draw its thumbnail sideways. Baked rotation encodes it "
                        + "upright (bakeRotation)."))
        }
        if isSource, media.hasLocation {
            warnings.append(
                PreparationWarning(.metadataKept, "The file is delivered unchanged and says where it was taken."))
        }
        return warnings
    }
}
