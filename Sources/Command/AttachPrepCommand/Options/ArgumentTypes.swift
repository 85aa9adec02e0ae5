public import ArgumentParser
import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import MediaEngine
import MediaTypes

/// `X,Y,W,H` or `smart[:W:H]`; the request checks the ranges.
struct CropArgument: ExpressibleByArgument {
    private enum Typed {
        case values([Double])
        case text(String)
    }

    private let typed: Typed

    init?(argument: String) {
        if argument.hasPrefix("smart") {
            typed = .text(argument)
            return
        }
        let values = argument.split(separator: ",", omittingEmptySubsequences: false).compactMap { Double($0) }
        guard values.count == 4, argument.count(where: { $0 == "," }) == 3 else { return nil }
        typed = .values(values)
    }

    var defaultValueDescription: String { "" }

    func choice() throws -> CropChoice {
        switch typed {
        case .values(let values):
            try AttachPrepError.converting {
                .part(try ClippingRect(x: values[0], y: values[1], width: values[2], height: values[3]))
            }
        case .text(let text): try CropChoice(text: text)
        }
    }
}

/// Seconds, a frame number, or `auto`.
struct ThumbnailTimeArgument: ExpressibleByArgument {
    let choice: ThumbnailTimeChoice

    init?(argument: String) {
        if argument == "auto" {
            choice = .auto
        } else if let time = Double(argument) {
            choice = .at(time)
        } else {
            return nil
        }
    }

    var defaultValueDescription: String { "" }
}

/// `mp3,mp4`: file extensions of attachment types.
struct AttachmentTypesArgument: ExpressibleByArgument {
    let types: AcceptedTypes

    init?(argument: String) {
        guard let types = try? AcceptedTypes(text: argument) else { return nil }
        self.types = types
    }

    var defaultValueDescription: String { "" }
}

/// `ios,android,web`: names of targets; the request checks them.
struct TargetsArgument: ExpressibleByArgument {
    private let text: String

    init?(argument: String) { text = argument }

    var defaultValueDescription: String { "ios" }

    func targets() throws -> RequestTargets { try RequestTargets(text: text) }
}

/// `3g`, `lte`, `wifi` or a number in kbit/s.
struct NetworkArgument: ExpressibleByArgument {
    let network: DeviceNetwork

    init?(argument: String) {
        guard let network = try? DeviceNetwork(text: argument) else { return nil }
        self.network = network
    }

    var defaultValueDescription: String { network.text }
}

/// `WxH` in pixels.
struct SizeArgument: ExpressibleByArgument {
    static let standard = SizeArgument(width: Limits.thumbnailSidePixels, height: Limits.thumbnailSidePixels)
    let width: Int
    let height: Int

    private init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    init?(argument: String) {
        let sides = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        self.init(width: width, height: height)
    }

    var defaultValueDescription: String { "\(width)x\(height)" }
}

/// `30s`, `500ms`, `2m`, `7d` or plain seconds.
struct DurationArgument: ExpressibleByArgument {
    let seconds: Double

    init(seconds: Double) {
        self.seconds = seconds
    }

    init?(argument: String) {
        guard let seconds = Quantity.seconds(argument) else { return nil }
        self.seconds = seconds
    }

    var defaultValueDescription: String {
        Int(exactly: seconds).map { "\($0)s" } ?? "\(seconds)s"
    }
}

/// An RFC 3339 time.
struct TimeArgument: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        guard let date = Timestamp.date(argument) else { return nil }
        self.date = date
    }
}

/// `Name: value`.
struct HeaderArgument: ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), colon > argument.startIndex else { return nil }
        name = String(argument[..<colon])
        let rest = argument[argument.index(after: colon)...]
        value = String(rest.drop { $0 == " " })
    }
}

// IDs, states and names as arguments.

extension JobID: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

extension WebhookID: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

extension JobState: ExpressibleByArgument {}

extension JobPriority: ExpressibleByArgument {}

extension MediaKind: ExpressibleByArgument {}

extension ErrorCode: ExpressibleByArgument {}

extension WebhookState: ExpressibleByArgument {}

extension CampaignName: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
