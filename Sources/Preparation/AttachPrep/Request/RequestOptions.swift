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
}

extension RequestOptions: OptionHolder {
    static let standard = RequestOptions()

    static let rows: [OptionRow<RequestOptions>] = [
        OptionRow(
            "crop", optional: \.crop, form: .crop, valueName: "X,Y,W,H|smart[:W:H]",
            help: "Part of the upright image to show, in fractions of its width and height from the top left, or smart "
                + "to detect it"),
        OptionRow(
            "thumbnailTime", optional: \.thumbnailTime, form: .thumbnailTime, valueName: "time|frame|auto",
            help: "Frame for the thumbnail: seconds of a movie, frame number of an animation from 0, or auto"),
        OptionRow(
            "thumbnailHidden", optional: \.thumbnailHidden, form: .onOff, flag: "hide-thumbnail",
            help: "Hide the thumbnail in the collapsed notification"),
        OptionRow(
            "thumbnailSize", at: \.thumbnailSize, form: .size, isAlwaysWritten: true,
            help: "Size of the thumbnail's box in pixels"),
        OptionRow(
            "thumbnailFit", at: \.thumbnailFit, form: .choice, isAlwaysWritten: true,
            help: "How to fit the thumbnail into its box: contain or cover; images are never enlarged"),
        OptionRow(
            "animation", at: \.animation, form: .choice, isAlwaysWritten: true,
            help: "Format for animated images: still, gif or mp4"),
        OptionRow(
            "bakeRotation", at: \.bakesRotation, form: .onOff, isAlwaysWritten: true,
            help: "Re-encode movies with a rotation flag as upright movies"),
    ]

    /// The keys of the options' JSON.
    static let keys = rows.map(\.facts.key)
}

extension RequestOptions: Codable {
    private static let keyAdvice = [
        KeyAdvice(AttachmentRequest.keys, "it belongs beside \"options\", not in it"),
        sizeAdvice,
    ]

    static let sizeAdvice = KeyAdvice(
        ["width", "height", "size"], "the size of the thumbnail is \"thumbnailSize\" in \"options\"")

    public init(from decoder: any Decoder) throws {
        try decoder.rejectUnknownKeys(except: Self.keys, advice: Self.keyAdvice)
        let values = try decoder.container(keyedBy: AnyKey.self)
        self = (decoder.userInfo[.requestDefaults] as? AttachmentRequest)?.options ?? RequestOptions()
        for row in Self.rows { try row.decode(&self, values) }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: AnyKey.self)
        for row in Self.rows { try row.encode(self, &values) }
    }
}

extension RequestOptions {
    /// A size in pixels.
    struct Size: Codable, Hashable {
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

    var thumbnailSize: Size {
        get { Size(width: thumbnailWidth, height: thumbnailHeight) }
        set { (thumbnailWidth, thumbnailHeight) = (newValue.width, newValue.height) }
    }
}

extension OptionForm where Value == RequestOptions.Size {
    /// `WxH` as a flag.
    static var size: OptionForm {
        let sides = 1...Limits.thumbnailSidePixelsMax
        let side = #"{"type": "integer", "minimum": 1, "maximum": \#(sides.upperBound)}"#
        return OptionForm(
            schema: #"""
                "type": ["object", "null"], "required": ["width", "height"], "additionalProperties": false,
                "properties": {"width": \#(side), "height": \#(side)}
                """#,
            examples: ["1x1", "300x200", "\(sides.upperBound)x\(sides.upperBound)"],
            parse: { text in
                let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
                guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
                return Value(width: width, height: height)
            },
            text: { "\($0.width)x\($0.height)" },
            validate: { size in
                guard !sides.contains(size.width) || !sides.contains(size.height) else { return }
                throw AttachPrepError(
                    .optionsInvalidSize,
                    "The thumbnail size \(size.width)x\(size.height) must be between 1x1 and "
                        + "\(sides.upperBound)x\(sides.upperBound) pixels.")
            })
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

extension OptionForm where Value == ThumbnailTimeChoice {
    /// A number, or `auto`.
    static var thumbnailTime: OptionForm {
        OptionForm(
            schema: #""anyOf": [{"type": "number", "minimum": 0}, {"enum": ["auto", null]}]"#,
            examples: ["0", "2.5", "86400", "auto"],
            parse: { $0 == "auto" ? .auto : Double($0).map(ThumbnailTimeChoice.at) },
            text: { choice in if case .at(let time) = choice { "\(time)" } else { "auto" } },
            validate: { choice in
                guard case .at(let time) = choice, !(time >= 0 && time.isFinite) else { return }
                throw AttachPrepError(
                    .optionsInvalidTime,
                    "The thumbnail time \(time) is invalid; give seconds or a frame number, 0 or more.")
            })
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
            case .smart(let ratio): self = .text(ratio.text)
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

extension OptionForm where Value == CropChoice {
    /// `X,Y,W,H`, `smart` or `smart:W:H` as a flag.
    static var crop: OptionForm {
        OptionForm(
            schema: #"""
                "anyOf": [
                  {"type": "null"},
                  {
                    "type": "string", "description": "smart, or smart with an aspect ratio: smart:16:9",
                    "pattern": "^smart(:[1-9][0-9]{0,3}:[1-9][0-9]{0,3})?$"
                  },
                  {
                    "type": "object", "description": "Fractions; x + width and y + height are at most 1",
                    "required": ["x", "y", "width", "height"], "additionalProperties": false,
                    "properties": {
                      "x": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
                      "y": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
                      "width": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                      "height": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
                    }
                  }
                ]
                """#,
            examples: ["0,0,1,1", "0.25,0,0.5,1", "smart", "smart:16:9"],
            parse: { text in
                if text.hasPrefix("smart") { return try CropChoice(text: text) }
                let sides = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
                let values = sides.compactMap(\.self)
                guard values.count == 4, sides.count == 4 else { return nil }
                return try AttachPrepError.converting {
                    .part(try ClippingRect(x: values[0], y: values[1], width: values[2], height: values[3]))
                }
            },
            text: { choice in
                switch choice {
                case .part(let rect): "\(rect.x),\(rect.y),\(rect.width),\(rect.height)"
                case .smart(let ratio): ratio.text
                }
            },
            decode: { try $0.decodeIfPresent(CropChoice.Coded.self, forKey: $1)?.choice() },
            encode: { try $1.encode(CropChoice.Coded($0), forKey: $2) })
    }
}

extension AspectRatio {
    /// The text form of a detected part in this ratio.
    fileprivate var text: String { self == .square ? "smart" : "smart:\(width):\(height)" }
}

extension Limits {
    /// The default side of the thumbnail: the collapsed notification shows 105 pixels at 3x, summaries more.
    package static let thumbnailSidePixels = 300
    /// The largest side that can be requested for a thumbnail.
    package static let thumbnailSidePixelsMax = 4_096
}
