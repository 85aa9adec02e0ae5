public import AttachPrepModel
public import MediaEngine
package import MediaTypes
import SafeArithmetic

/// Options for thumbnail, crop, animation and rotation.
public struct RequestOptions: Sendable, Hashable {
    /// The part of the upright image to show, also written at full resolution.
    public var crop: CropChoice?
    /// Which frame a thumbnail shows; nil leaves the choice to the device.
    public var thumbnailTime: ThumbnailTimeChoice?
    /// Whether the collapsed notification hides the thumbnail.
    public var thumbnailHidden: Bool?
    /// Size of the thumbnail's bounding box in pixels.
    public var thumbnailWidth: Int
    public var thumbnailHeight: Int
    public var thumbnailFit: ThumbnailFit
    /// The format that an animated image is converted to.
    public var animation: AnimationTarget
    /// Whether a movie that is stored rotated is encoded upright.
    public var bakesRotation: Bool

    public init() {
        thumbnailWidth = Limits.thumbnailSidePixels
        thumbnailHeight = Limits.thumbnailSidePixels
        thumbnailFit = .contain
        animation = .gif
        bakesRotation = false
    }

    /// Throws `options.invalid_time` or `options.invalid_size`; `ClippingRect` validates itself when it is created.
    func validate() throws {
        if case .at(let time) = thumbnailTime, !(time >= 0 && time.isFinite) {
            throw AttachPrepError(
                .optionsInvalidTime,
                "The thumbnail time \(time) is invalid; give seconds or a frame number, 0 or more.")
        }
        let sides = 1...Limits.thumbnailSidePixelsMax
        guard sides.contains(thumbnailWidth), sides.contains(thumbnailHeight) else {
            throw AttachPrepError(
                .optionsInvalidSize,
                "The thumbnail size \(thumbnailWidth)x\(thumbnailHeight) must be between 1x1 and "
                    + "\(sides.upperBound)x\(sides.upperBound) pixels.")
        }
    }
}

extension RequestOptions: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case crop, thumbnailTime, thumbnailHidden, thumbnailSize, thumbnailFit, animation, bakeRotation
    }

    /// The keys of the options' JSON.
    static let keys = CodingKeys.allCases.map(\.rawValue)

    private static let keyAdvice = [
        KeyAdvice(AttachmentRequest.keys, "it belongs beside \"options\", not in it"),
        sizeAdvice,
    ]

    static let sizeAdvice = KeyAdvice(
        ["width", "height", "size"], "the size of the thumbnail is \"thumbnailSize\" in \"options\"")

    private struct Size: Codable {
        let width: Int
        let height: Int

        init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

        init(from decoder: any Decoder) throws {
            try decoder.rejectUnknownKeys(except: ["width", "height"])
            let values = try decoder.container(keyedBy: CodingKeys.self)
            width = try values.wholeNumber(forKey: .width) ?? values.decode(Int.self, forKey: .width)
            height = try values.wholeNumber(forKey: .height) ?? values.decode(Int.self, forKey: .height)
        }
    }

    public init(from decoder: any Decoder) throws {
        try decoder.rejectUnknownKeys(except: Self.keys, advice: Self.keyAdvice)
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

/// The target of the attachment.
public enum RequestedRendition: String, JSONChoice, Sendable, Hashable {
    /// As little change as the rules allow.
    case original
    /// What a notification can show and a phone can fetch in time, without metadata.
    case display
}

/// The format that an animated image is converted to.
public enum AnimationTarget: String, JSONChoice, Sendable, Hashable {
    /// One frame, as a still image.
    case still
    /// A GIF, which iOS animates in the notification.
    case gif
    /// A movie, shown with player controls.
    case mp4
}

/// Which frame a thumbnail shows.
public enum ThumbnailTimeChoice: Sendable, Hashable {
    /// Seconds of a movie, or frame number of an animation.
    case at(Double)
    /// The most representative frame, chosen automatically.
    case auto
}

extension ThumbnailTimeChoice: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Double.self) {
            self = .at(number)
            return
        }
        guard let text = try? value.decode(String.self) else {
            throw DecodingError.expected("seconds, a frame number or \"auto\"", at: decoder.codingPath)
        }
        guard text == "auto" else {
            throw AttachPrepError(
                .optionsInvalidTime,
                "The thumbnail time \"\(MessageText.excerpt(text, bytesMax: 80))\" is invalid; give a number or "
                    + "\"auto\"."
            )
        }
        self = .auto
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .at(let time): try value.encode(time)
        case .auto: try value.encode("auto")
        }
    }
}

extension CropChoice {
    /// Parses the text form of requests and command lines: `smart`, or `smart:16:9`.
    ///
    /// - Throws: `options.invalid_clipping_rect`.
    public init(text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let sides = parts.dropFirst().map { Int($0) ?? 0 }
        guard parts.first == "smart", parts.count == 1 || parts.count == 3, sides.allSatisfy(Self.sides.contains)
        else {
            throw AttachPrepError(
                .optionsInvalidClippingRect,
                "The crop \"\(MessageText.excerpt(text, bytesMax: 80))\" is invalid; give four numbers from 0 "
                    + "to 1, smart, or smart:16:9."
            )
        }
        self = .smart(sides.isEmpty ? .square : AspectRatio(width: sides[0], height: sides[1]))
    }

    /// Sides outside of this range are not useful aspect ratios.
    private static let sides = 1...10_000

    /// The JSON form.
    enum Coded: Codable, Hashable {
        case text(String)
        case part(ClippingRect)

        private enum Side: String, CodingKey, CaseIterable {
            case x, y, width, height
        }

        init(_ choice: CropChoice) {
            switch choice {
            case .part(let rect): self = .part(rect)
            case .smart(.square): self = .text("smart")
            case .smart(let ratio): self = .text("smart:\(ratio.width):\(ratio.height)")
            }
        }

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let text = try? value.decode(String.self) {
                self = .text(text)
                return
            }
            guard (try? decoder.container(keyedBy: Side.self)) != nil else {
                throw DecodingError.expected(
                    "smart, smart:16:9 or an object with x, y, width and height", at: decoder.codingPath)
            }
            try decoder.rejectUnknownKeys(
                except: Side.allCases.map(\.rawValue),
                advice: [
                    KeyAdvice(["w"], "the key is \"width\""), KeyAdvice(["h"], "the key is \"height\""),
                ])
            self = .part(try value.decode(ClippingRect.self))
        }

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .text(let text): try value.encode(text)
            case .part(let rect): try value.encode(rect)
            }
        }

        func choice() throws -> CropChoice {
            switch self {
            case .text(let text): try CropChoice(text: text)
            case .part(let rect): .part(rect)
            }
        }
    }
}

extension Limits {
    /// The default side of the thumbnail: the collapsed notification shows 105 pixels at 3x, summaries more.
    package static let thumbnailSidePixels = 300
    /// The largest side that can be requested for a thumbnail.
    package static let thumbnailSidePixelsMax = 4_096
}
