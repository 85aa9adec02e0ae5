import SafeArithmetic

/// The neutral object as a payload has it: keys without a value are left out, and numbers are short.
extension PushContent {
    /// Whether there is nothing to say, so that a payload has no such object.
    public var isEmpty: Bool { attachments.isEmpty && receipt == nil }

    public var payloadValue: PayloadValue {
        let receipt = receipt.map {
            PayloadValue.object([PayloadMember("url", .string($0.url)), PayloadMember("token", .string($0.token))])
        }
        return .object(
            of: [
                ("attachments", attachments.isEmpty ? nil : .array(attachments.map(\.payloadValue))),
                ("receipt", receipt),
            ])
    }
}

extension PushAttachment {
    var payloadValue: PayloadValue {
        let thumbnail = thumbnail.map {
            PayloadValue.object(
                of: [
                    ("url", .string($0.url)), ("bytes", $0.bytes.map(PayloadValue.number)),
                    ("sha256", $0.sha256.map(PayloadValue.string)),
                ])
        }
        return .object(
            of: [
                ("id", .string(id)), ("url", url.map(PayloadValue.string)), ("file", file.map(PayloadValue.string)),
                ("bytes", bytes.map(PayloadValue.number)), ("sha256", sha256.map(PayloadValue.string)),
                ("options", options.map(\.payloadValue)), ("thumbnail", thumbnail),
            ])
    }
}

extension PushAttachmentOptions {
    var payloadValue: PayloadValue {
        let rect = thumbnailClippingRect.map {
            PayloadValue.object(
                of: [
                    ("X", .number($0.x)), ("Y", .number($0.y)), ("Width", .number($0.width)),
                    ("Height", .number($0.height)),
                ])
        }
        return .object(
            of: [
                ("typeHint", typeHint.map(PayloadValue.string)),
                ("thumbnailHidden", thumbnailHidden.map(PayloadValue.bool)),
                ("thumbnailClippingRect", rect), ("thumbnailTime", thumbnailTime.map(\.payloadValue)),
            ])
    }
}

extension ThumbnailTime {
    var payloadValue: PayloadValue {
        switch self {
        case .frame(let number): .number(number)
        case .movie(let time):
            .object(
                of: [
                    ("value", .number("\(time.value)")), ("timescale", .number("\(time.timescale)")),
                    ("epoch", .number("\(time.epoch)")), ("flags", .number("\(time.flags)")),
                ])
        }
    }
}

extension PayloadValue {
    /// The members that have a value.
    static func object(of members: [(String, PayloadValue?)]) -> PayloadValue {
        .object(members.compactMap { key, value in value.map { PayloadMember(key, $0) } })
    }

    static func number(_ value: Int) -> PayloadValue { .number("\(value)") }

    /// In its shortest form: `0.25`, and `1` for a whole number.
    static func number(_ value: Double) -> PayloadValue {
        // Beyond 2^53 a whole number's neighbours are no Doubles, and its digits say more than it does.
        let isWhole = value == value.rounded() && value.magnitude < 9_007_199_254_740_992
        return .number(isWhole ? "\(Int(clamping: value))" : "\(value)")
    }
}
