public import MediaEngine
import RichPush

/// How much of the source a rendition keeps.
public enum RequestedRendition: String, Codable, Sendable, Hashable, CaseIterable {
    /// As little change as the rules allow.
    case original
    /// What a notification can show and a phone can fetch in time, without metadata.
    case display
}

/// What an animated image becomes.
public enum AnimationTarget: String, Codable, Sendable, Hashable, CaseIterable {
    /// One picture of it.
    case still
    /// A GIF, which is what iOS animates.
    case gif
    /// A movie, with a player's controls around it.
    case mp4
}

/// Which picture a thumbnail shows.
public enum ThumbnailTimeChoice: Sendable, Hashable {
    /// Seconds of a movie, frame number of an animation.
    case at(Double)
    /// The picture that stands best for it.
    case auto
}

extension ThumbnailTimeChoice: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Double.self) {
            self = .at(number)
            return
        }
        let word = try value.decode(String.self)
        guard word == "auto" else {
            throw AttachPrepError(
                .optionsInvalidTime, "The thumbnail time \"\(word)\" is neither a number nor \"auto\".")
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
    /// The word of requests and command lines: `smart`, or `smart:16:9`.
    ///
    /// - Throws: `options.invalid_clipping_rect`.
    public init(word: String) throws {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        let sides = parts.dropFirst().map { Int($0) ?? 0 }
        guard parts.first == "smart", parts.count == 1 || parts.count == 3, sides.allSatisfy(Self.sides.contains)
        else {
            throw AttachPrepError(
                .optionsInvalidClippingRect,
                "The crop \"\(word)\" is neither four unit values nor smart, as in smart or smart:16:9.")
        }
        self = .smart(sides.isEmpty ? .square : AspectRatio(width: sides[0], height: sides[1]))
    }

    /// Proportions beyond this are lines, not pictures.
    private static let sides = 1...10_000

    /// As requests write it.
    enum Coded: Codable, Hashable {
        case word(String)
        case part(ClippingRect)

        init(_ choice: CropChoice) {
            switch choice {
            case .part(let rect): self = .part(rect)
            case .smart(.square): self = .word("smart")
            case .smart(let ratio): self = .word("smart:\(ratio.width):\(ratio.height)")
            }
        }

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            self =
                if let word = try? value.decode(String.self) { .word(word) } else {
                    .part(try value.decode(ClippingRect.self))
                }
        }

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .word(let word): try value.encode(word)
            case .part(let rect): try value.encode(rect)
            }
        }

        func choice() throws -> CropChoice {
            switch self {
            case .word(let word): try CropChoice(word: word)
            case .part(let rect): .part(rect)
            }
        }
    }
}
