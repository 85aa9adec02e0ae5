import ArgumentParser
import RichPush

/// `X,Y,W,H` as typed; whether it lies inside the picture is for the request to say.
struct CropArgument: ExpressibleByArgument {
    static let valueName = "X,Y,W,H"
    let values: [Double]

    init?(argument: String) {
        let values = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard values.count == 4 else { return nil }
        self.values = values.compactMap { $0 }
        guard self.values.count == 4 else { return nil }
    }

    var defaultValueDescription: String { values.map { "\($0)" }.joined(separator: ",") }

    func clippingRect() throws -> ClippingRect {
        try ClippingRect(x: values[0], y: values[1], width: values[2], height: values[3])
    }
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

/// `30s`, `500ms`, `2m` or plain seconds.
struct DurationArgument: ExpressibleByArgument {
    let seconds: Double

    init(seconds: Double) {
        self.seconds = seconds
    }

    init?(argument: String) {
        let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60)]
        let unit = units.first { argument.hasSuffix($0.suffix) }
        guard let number = Double(argument.dropLast(unit?.suffix.count ?? 0)) else { return nil }
        seconds = number * (unit?.seconds ?? 1)
    }

    var defaultValueDescription: String {
        seconds == seconds.rounded() ? "\(Int(seconds))s" : "\(seconds)s"
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
