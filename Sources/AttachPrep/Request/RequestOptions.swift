public import MediaEngine
public import RichPush

/// What is asked for beside the attachment itself.
public struct RequestOptions: Sendable, Hashable {
    /// The part of the upright picture to show, and to write at full resolution.
    public var crop: ClippingRect?
    /// Seconds of a movie, frame number of an animation; nil leaves it to the device.
    public var thumbnailTime: Double?
    /// Whether the collapsed notification shows no thumbnail.
    public var thumbnailHidden: Bool?
    /// The thumbnail's box in pixels.
    public var thumbnailWidth: Int
    public var thumbnailHeight: Int
    public var thumbnailFit: ThumbnailFit

    public init() {
        thumbnailWidth = Limits.thumbnailSidePixels
        thumbnailHeight = Limits.thumbnailSidePixels
        thumbnailFit = .contain
    }

    /// Throws `options.invalid_time` or `options.invalid_size`; a clipping rectangle was checked as it was made.
    func validate() throws {
        if let thumbnailTime, !(thumbnailTime >= 0 && thumbnailTime.isFinite) {
            throw AttachPrepError(
                .optionsInvalidTime,
                "The thumbnail time \(thumbnailTime) is not a time; give seconds or a frame number, 0 or more.")
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
        crop = try Self.crop(in: values) ?? crop
        thumbnailTime = try Self.time(in: values) ?? thumbnailTime
        thumbnailHidden = try values.decodeIfPresent(Bool.self, forKey: .thumbnailHidden) ?? thumbnailHidden
        if let size = try values.decodeIfPresent(Size.self, forKey: .thumbnailSize) {
            (thumbnailWidth, thumbnailHeight) = (size.width, size.height)
        }
        thumbnailFit = try values.decodeIfPresent(ThumbnailFit.self, forKey: .thumbnailFit) ?? thumbnailFit
        try Self.refuseLaterOptions(in: values)
    }

    private static func crop(in values: KeyedDecodingContainer<CodingKeys>) throws -> ClippingRect? {
        if let word = try? values.decode(String.self, forKey: .crop) { throw AttachPrepError.notYet("crop \(word)") }
        return try values.decodeIfPresent(ClippingRect.self, forKey: .crop)
    }

    private static func time(in values: KeyedDecodingContainer<CodingKeys>) throws -> Double? {
        if let word = try? values.decode(String.self, forKey: .thumbnailTime) {
            throw AttachPrepError.notYet("thumbnailTime \(word)")
        }
        return try values.decodeIfPresent(Double.self, forKey: .thumbnailTime)
    }

    /// The contract has them with these defaults; anything else would be promised and not done.
    private static func refuseLaterOptions(in values: KeyedDecodingContainer<CodingKeys>) throws {
        let animation = try values.decodeIfPresent(String.self, forKey: .animation) ?? "gif"
        guard animation == "gif" else { throw AttachPrepError.notYet("animation \(animation)") }
        let bakes = try values.decodeIfPresent(Bool.self, forKey: .bakeRotation) ?? false
        guard !bakes else { throw AttachPrepError.notYet("bakeRotation") }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(crop, forKey: .crop)
        try values.encodeIfPresent(thumbnailTime, forKey: .thumbnailTime)
        try values.encodeIfPresent(thumbnailHidden, forKey: .thumbnailHidden)
        try values.encode(Size(width: thumbnailWidth, height: thumbnailHeight), forKey: .thumbnailSize)
        try values.encode(thumbnailFit, forKey: .thumbnailFit)
    }
}

extension AttachPrepError {
    /// An option of the contract that this version does not carry out.
    static func notYet(_ option: String) -> AttachPrepError {
        AttachPrepError(.requestInvalid, "The option \(option) is not in this version; leave it out.")
    }
}
