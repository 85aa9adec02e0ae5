/// The options that a payload asks for, read from their fields; what cannot be read becomes a warning.
struct MediaOptions {
    var options = PayloadMediaOptions()
    var warnings: [PayloadWarning] = []

    init(_ fields: [MediaPlace.Field: PayloadPath], in top: PayloadValue) {
        read(fields[.clippingRect], in: top, Self.clippingRect) { $0.clippingRect = $1 }
        read(fields[.thumbnailTime], in: top, Self.time) { $0.thumbnailTime = $1 }
        read(fields[.thumbnailHidden], in: top, Self.hidden) { $0.thumbnailHidden = $1 }
        for field in [MediaPlace.Field.type, .typeHint] {
            read(fields[field], in: top, Self.text) { _, _ in }
        }
    }

    private mutating func read<Option>(
        _ path: PayloadPath?, in top: PayloadValue, _ reading: (PayloadValue) -> OptionReading<Option>,
        _ set: (inout PayloadMediaOptions, Option) -> Void
    ) {
        guard let path, let value = top.standing(at: path), value != .null, value != .string("") else { return }
        switch reading(value) {
        case .value(let option): set(&options, option)
        case .fault(let why, let remedy):
            warnings.append(
                PayloadWarning(
                    .optionInvalid, "\(SpokenText.path(path)) \(why), so it is left out; write \(remedy)."))
        }
    }

    private enum OptionReading<Option> {
        case value(Option)
        /// Why not, and what to write.
        case fault(String, String)
    }

    private static func text(_ value: PayloadValue) -> OptionReading<String> {
        value.string.map { .value($0) } ?? .fault("is no string", "a string, or leave it out")
    }

    private static func clippingRect(_ value: PayloadValue) -> OptionReading<ClippingRect> {
        let remedy = "x, y, width and height as parts of the picture, x+width and y+height at most 1"
        // Some clients keep options in strings.
        let object = value.members == nil ? value.insideText ?? value : value
        guard object.members != nil else { return .fault("is no rectangle", remedy) }
        let sides = ["x", "y", "width", "height"].map { key in
            (object[key] ?? object[key.prefix(1).uppercased() + key.dropFirst()]).flatMap(number)
        }
        guard let x = sides[0], let y = sides[1], let width = sides[2], let height = sides[3] else {
            return .fault("does not have all of its four numbers", remedy)
        }
        guard let rect = try? ClippingRect(x: x, y: y, width: width, height: height) else {
            return .fault("does not lie inside the picture", remedy)
        }
        return .value(rect)
    }

    private static func time(_ value: PayloadValue) -> OptionReading<Double> {
        let remedy = "seconds of a movie or the frame number of an animation, 0 or more"
        guard let time = number(value) ?? movieTime(value) else { return .fault("is no time", remedy) }
        guard (0...Limits.payloadThumbnailTimeMax).contains(time) else { return .fault("is not in a movie", remedy) }
        // Bounded: floating point; minus zero becomes zero.
        return .value(time + 0)
    }

    /// A CMTime as a dictionary.
    private static func movieTime(_ value: PayloadValue) -> Double? {
        guard let ticks = value["value"].flatMap(number), let scale = value["timescale"].flatMap(number), scale > 0
        else { return nil }
        // Bounded: floating point, which does not trap.
        let seconds = ticks / scale
        return seconds.isFinite ? seconds : nil
    }

    private static func hidden(_ value: PayloadValue) -> OptionReading<Bool> {
        switch value {
        case .bool(let hidden): return .value(hidden)
        case .number where value.double == 0: return .value(false)
        case .number where value.double == 1: return .value(true)
        case .string(let text):
            if ["true", "1", "yes"].contains(text.lowercased()) { return .value(true) }
            if ["false", "0", "no"].contains(text.lowercased()) { return .value(false) }
        default: break
        }
        return .fault("is neither true nor false", "true or false")
    }

    /// Also one in a string, as some clients write all options.
    private static func number(_ value: PayloadValue) -> Double? {
        if let number = value.double { return number }
        guard let text = value.string, let number = Double(text), number.isFinite else { return nil }
        return number
    }
}
