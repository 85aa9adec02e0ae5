public import MediaEngine
import RichPush

/// What is asked for beside the attachment itself.
public struct RequestOptions: Sendable, Hashable {
    /// The part of the upright picture to show, and to write at full resolution.
    public var crop: CropChoice?
    /// Which picture a thumbnail shows; nil leaves it to the device.
    public var thumbnailTime: ThumbnailTimeChoice?
    /// Whether the collapsed notification shows no thumbnail.
    public var thumbnailHidden: Bool?
    /// The thumbnail's box in pixels.
    public var thumbnailWidth: Int
    public var thumbnailHeight: Int
    public var thumbnailFit: ThumbnailFit
    /// What an animated image becomes.
    public var animation: AnimationTarget
    /// Whether a movie that is stored turned is encoded upright.
    public var bakesRotation: Bool

    public init() {
        thumbnailWidth = Limits.thumbnailSidePixels
        thumbnailHeight = Limits.thumbnailSidePixels
        thumbnailFit = .contain
        animation = .gif
        bakesRotation = false
    }

    /// Throws `options.invalid_time` or `options.invalid_size`; a clipping rectangle was checked as it was made.
    func validate() throws {
        if case .at(let time) = thumbnailTime, !(time >= 0 && time.isFinite) {
            throw AttachPrepError(
                .optionsInvalidTime,
                "The thumbnail time \(time) is not a time; give seconds or a frame number, 0 or more.")
        }
        let sides = 1...Limits.thumbnailSidePixelsMax
        guard sides.contains(thumbnailWidth), sides.contains(thumbnailHeight) else {
            throw AttachPrepError(
                .optionsInvalidSize,
                "The thumbnail size \(thumbnailWidth)x\(thumbnailHeight) is not between 1x1 and "
                    + "\(sides.upperBound)x\(sides.upperBound) pixels.")
        }
    }
}

extension RequestOptions: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case crop, thumbnailTime, thumbnailHidden, thumbnailSize, thumbnailFit, animation, bakeRotation
    }

    private struct Size: Codable {
        let width: Int
        let height: Int
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(except: CodingKeys.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self = (decoder.userInfo[.requestDefaults] as? AttachmentRequest)?.options ?? RequestOptions()
        crop = try values.decodeIfPresent(CropChoice.Coded.self, forKey: .crop)?.choice() ?? crop
        thumbnailTime = try values.decodeIfPresent(ThumbnailTimeChoice.self, forKey: .thumbnailTime) ?? thumbnailTime
        thumbnailHidden = try values.decodeIfPresent(Bool.self, forKey: .thumbnailHidden) ?? thumbnailHidden
        if let size = try values.decodeIfPresent(Size.self, forKey: .thumbnailSize) {
            (thumbnailWidth, thumbnailHeight) = (size.width, size.height)
        }
        thumbnailFit = try values.decodeIfPresent(ThumbnailFit.self, forKey: .thumbnailFit) ?? thumbnailFit
        animation = try values.decodeIfPresent(AnimationTarget.self, forKey: .animation) ?? animation
        bakesRotation = try values.decodeIfPresent(Bool.self, forKey: .bakeRotation) ?? bakesRotation
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(crop.map(CropChoice.Coded.init), forKey: .crop)
        try values.encodeIfPresent(thumbnailTime, forKey: .thumbnailTime)
        try values.encodeIfPresent(thumbnailHidden, forKey: .thumbnailHidden)
        try values.encode(Size(width: thumbnailWidth, height: thumbnailHeight), forKey: .thumbnailSize)
        try values.encode(thumbnailFit, forKey: .thumbnailFit)
        try values.encode(animation, forKey: .animation)
        try values.encode(bakesRotation, forKey: .bakeRotation)
    }
}
